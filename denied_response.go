package headgate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// deniedHeader marks a response that WithDeniedResponses made, for people and
// for code that can't call DeniedFrom. DeniedFrom itself doesn't believe it,
// since a vendor could send it.
const deniedHeader = "X-Headgate-Denied"

type deniedKey struct{}

// A deniedMark names the request that it was made for: contexts are handed on
// to other requests, whose answers are the vendor's.
type deniedMark struct {
	denied *throttle.DeniedError
	req    *http.Request
}

// DeniedFrom returns the denial behind a response that WithDeniedResponses
// made, and false for every other response. The denial travels with
// resp.Request, so that wrapping the body doesn't lose it.
func DeniedFrom(resp *http.Response) (*throttle.DeniedError, bool) {
	if resp == nil || resp.Request == nil {
		return nil, false
	}
	m, ok := resp.Request.Context().Value(deniedKey{}).(*deniedMark)
	if !ok || m.req != resp.Request {
		return nil, false
	}
	return m.denied, true
}

// denied returns what RoundTrip does about a call that wasn't admitted: the
// error itself or, where that is asked for, a response in its place.
func (t *Transport) denied(req *http.Request, err error) (*http.Response, error) {
	var d *throttle.DeniedError
	if !t.responses || over(req) != nil || !errors.As(err, &d) {
		return nil, err
	}
	return t.deniedResponse(req, d), nil
}

func (t *Transport) deniedResponse(req *http.Request, d *throttle.DeniedError) *http.Response {
	status := http.StatusTooManyRequests
	if errors.Is(d, throttle.ErrTooLarge) {
		status = http.StatusRequestEntityTooLarge
	}
	text := deniedBody(t.dialect.Name(), status, d)
	header := http.Header{
		"Content-Type":   {"application/json"},
		"Content-Length": {strconv.Itoa(len(text))},
		// Every attempt would be denied alike; the throttle has waited for as
		// long as it may already.
		"X-Should-Retry": {"false"},
		deniedHeader:     {d.Code()},
	}
	if d.RetryAfter > 0 {
		header["Retry-After"] = []string{wholeSeconds(d.RetryAfter)}
	}
	mark := &deniedMark{denied: d}
	mark.req = req.WithContext(context.WithValue(req.Context(), deniedKey{}, mark))
	return &http.Response{
		Status:     strconv.Itoa(status) + " " + http.StatusText(status),
		StatusCode: status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(text)),
		ContentLength: int64(len(text)),
		Request:       mark.req,
	}
}

// deniedBody has the error object that most vendors' SDKs look for, and at the
// top what the others do.
func deniedBody(vendor string, status int, d *throttle.DeniedError) []byte {
	type object struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Code    int    `json:"code,omitempty"`
		Status  string `json:"status,omitempty"`
	}
	inner := object{Type: "rate_limit_error", Message: d.Error()}
	if status == http.StatusRequestEntityTooLarge {
		inner.Type = "request_too_large"
	}
	switch vendor {
	case dialect.Gemini.Name(), dialect.Vertex.Name():
		// Their SDK goes by the number here. Elsewhere a code is a text, and
		// some SDKs fail on a number.
		inner.Code, inner.Status = status, googleStatus(status)
	}
	text, _ := json.Marshal(struct { // strings and numbers always can be
		Type    string `json:"type"`
		Status  int    `json:"status"`
		Message string `json:"message"`
		Error   object `json:"error"`
	}{"error", status, d.Error(), inner})
	return text
}

func googleStatus(status int) string {
	if status == http.StatusTooManyRequests {
		return "RESOURCE_EXHAUSTED"
	}
	return "INVALID_ARGUMENT"
}

// wholeSeconds rounds up, so that nobody comes back too early. Some SDKs fail
// on a fraction.
func wholeSeconds(d time.Duration) string {
	s := int64(d / time.Second)
	if d%time.Second != 0 {
		s++
	}
	return strconv.FormatInt(s, 10)
}
