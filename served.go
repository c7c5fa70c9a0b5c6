package headgate

import (
	"context"
	"net/http"
)

// modelHeader names the backup model that served a request, for people and for
// code that can't call FallbackFrom, which doesn't believe it: a vendor could
// send it.
const modelHeader = "X-Headgate-Model"

type servedKey struct{}

// A servedMark names the request that it was made for: contexts are handed on to
// other requests.
type servedMark struct {
	model string
	req   *http.Request
}

// FallbackFrom returns the backup model that an answer comes from, where
// WithFallbacks had one serve the request, and false for every other response.
// It travels with resp.Request, which then is the request as it was sent, so
// that wrapping the body doesn't lose it.
func FallbackFrom(resp *http.Response) (model string, ok bool) {
	if resp == nil || resp.Request == nil {
		return "", false
	}
	m, ok := resp.Request.Context().Value(servedKey{}).(*servedMark)
	if !ok || m.req != resp.Request {
		return "", false
	}
	return m.model, true
}

// markServed notes in a response which backup model it comes from.
func markServed(resp *http.Response, model string) {
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	resp.Header.Set(modelHeader, model)
	mark := &servedMark{model: model}
	mark.req = resp.Request.WithContext(context.WithValue(resp.Request.Context(), servedKey{}, mark))
	resp.Request = mark.req
}
