package headgate

import (
	"net/http"
	"strings"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// mayRepeat reports whether another attempt is safe and may help. What may have
// arrived isn't sent twice, unless the request is one that may be.
func (w *trip) mayRepeat(o *outcome) bool {
	switch {
	case o.probe || over(w.req) != nil || !hasNewBody(o.sent.req):
		return false
	case o.err != nil:
		return o.undone || idempotent(w.req)
	case o.resp.StatusCode < http.StatusBadRequest:
		return false // the caller may have it already
	}
	switch o.verdict.Class {
	case throttle.Busy:
		return true
	case throttle.Overloaded:
		return o.undone || idempotent(w.req)
	case throttle.ServerError:
		return idempotent(w.req)
	}
	return false
}

// hasNewBody reports whether the request can be sent once more.
func hasNewBody(req *http.Request) bool {
	return req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
}

// idempotent reports whether a request may be sent again although it may have
// arrived. It goes by what net/http goes by: the method, or a header with a key;
// an empty list in its place says the same and sends nothing.
func idempotent(req *http.Request) bool {
	switch req.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	for _, name := range [...]string{"Idempotency-Key", "X-Idempotency-Key"} {
		values, ok := req.Header[name]
		if ok && (len(values) == 0 || strings.TrimSpace(values[0]) != "") {
			return true
		}
	}
	return false
}

// longestSigned is how long after it was signed a request may still be sent
// again. AWS takes it for five minutes, by its own clock.
const longestSigned = 4 * time.Minute

// latest is when the request's signature is too old for another attempt, zero
// where it has none.
func (w *trip) latest() time.Time {
	if w.arrived.IsZero() || !isSigned(w.req) {
		return time.Time{}
	}
	return signedAt(w.req, w.arrived).Add(longestSigned)
}

// isSigned reports whether a request has a signature of AWS' version 4.
func isSigned(req *http.Request) bool {
	return strings.HasPrefix(req.Header.Get("Authorization"), "AWS4-") || strings.Contains(req.URL.RawQuery, "X-Amz-Signature=")
}

// signedAt returns when a request was signed, arrived where it doesn't say or
// names the future.
func signedAt(req *http.Request, arrived time.Time) time.Time {
	text := req.Header.Get("X-Amz-Date")
	if text == "" && strings.Contains(req.URL.RawQuery, "X-Amz-Date=") {
		text = req.URL.Query().Get("X-Amz-Date")
	}
	at, err := time.Parse("20060102T150405Z", text)
	if err != nil {
		at, err = http.ParseTime(req.Header.Get("Date"))
	}
	if err != nil || at.After(arrived) {
		return arrived
	}
	return at
}
