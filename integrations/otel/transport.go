package headgateotel

import (
	"errors"
	"net/http"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/throttle"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// A Transport is an http.RoundTripper that goes around a headgate.Transport and
// writes to the span of the request's context: the attribute headgate.wait, which is
// how many seconds the throttle's decisions took, and one event for each denial
// (headgate.denied) and for each answer that asks for a pause (headgate.paused).
//
// Within otelhttp's transport that is the span of the HTTP request, which then
// includes the wait. Around it, with otelhttp as the headgate.Transport's base, it
// is the caller's span, and that of the HTTP request has the sending alone.
//
// A Transport is safe for concurrent use.
type Transport struct{ base http.RoundTripper }

var _ http.RoundTripper = (*Transport)(nil)

// NewTransport returns a Transport around base, which has to be a
// headgate.Transport or lead to one. nil: http.DefaultTransport, about which
// nothing is written.
func NewTransport(base http.RoundTripper) *Transport {
	if base == nil {
		base = http.DefaultTransport
	}
	return &Transport{base: base}
}

// RoundTrip sends the request through the base. Its results are the base's.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	span := trace.SpanFromContext(req.Context())
	if !span.IsRecording() {
		return t.base.RoundTrip(req)
	}
	var wait time.Duration
	decided := false
	out := req.WithContext(headgate.WithTrace(req.Context(), headgate.Trace{
		Decided: func(d headgate.Decision) {
			decided = true
			wait += d.Wait
			addDenial(span, d.Err)
		},
		Judged: func(v throttle.Verdict) { addPause(span, v) },
	}))
	resp, err := t.base.RoundTrip(out)
	if decided {
		span.SetAttributes(waitKey.Float64(wait.Seconds()))
	}
	if resp != nil && resp.Request == out {
		resp.Request = req
	}
	return resp, err
}

// CloseIdleConnections passes the call on to the base, where it has such a method.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// addDenial adds the event of a denial, if err is one.
func addDenial(span trace.Span, err error) {
	var denied *throttle.DeniedError
	if !errors.As(err, &denied) {
		return
	}
	list := []attribute.KeyValue{
		reasonKey.String(denied.Code()), budgetKey.String(denied.Budget), laneKey.String(denied.Lane),
	}
	if denied.Limit != "" {
		list = append(list, limitKey.String(denied.Limit))
	}
	if denied.RetryAfter > 0 {
		list = append(list, retryAfterKey.Float64(denied.RetryAfter.Seconds()))
	}
	span.AddEvent("headgate.denied", trace.WithAttributes(list...))
}

// addPause adds the event of an answer that asks for a pause, if it does.
func addPause(span trace.Span, v throttle.Verdict) {
	if v.Class != throttle.Busy && v.Class != throttle.Overloaded || v.Scope == throttle.ScopeNone {
		return
	}
	list := []attribute.KeyValue{classKey.String(v.Class.String()), pauseScopeKey.String(v.Scope.String())}
	if v.Wait > 0 {
		list = append(list, vendorWaitKey.Float64(v.Wait.Seconds()))
	}
	span.AddEvent("headgate.paused", trace.WithAttributes(list...))
}
