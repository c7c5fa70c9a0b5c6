package headgate

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// A Transport is an http.RoundTripper that asks a throttle before each request
// goes out, and tells it what the answer meant and cost.
//
// A request that isn't let through comes back as a *throttle.DeniedError (see
// errors.As and throttle.ErrDenied), with nothing sent and nothing charged. A
// request that waits for room does so inside RoundTrip, so waiting counts
// towards http.Client.Timeout and towards the deadline of the request's
// context; the end of either ends the wait, and so does Request.Cancel.
//
// What goes out is the caller's request: the same method, URL, header, body,
// length, GetBody and trailer, except for the model where WithFallbacks had to
// find another. The caller's request is never changed. Every attempt that
// reaches the vendor is charged, redirects of the http.Client and retries of an
// SDK included; the Transport adds none of its own without WithRetries.
//
// The body of the answer reaches the caller as it arrives, unbuffered. It has
// no io.WriterTo, so that io.Copy reads it like everything else does. The call
// ends for the throttle at the first of: the body read to its end, closed or
// broken, and the end of the request's context. Callers therefore have to close
// the body, as http.Response asks of them anyway. After a protocol switch (101)
// the body is an io.ReadWriteCloser, and its Close alone ends the call.
//
// A Transport is safe for concurrent use. Its zero value refuses every request.
type Transport struct {
	throttle *throttle.Throttle
	dialect  dialect.Dialect
	options
	broken error // what NewTransport couldn't accept
}

var _ http.RoundTripper = (*Transport)(nil)

// NewTransport returns a Transport whose requests the throttle th decides
// about, read and judged by the vendor's dialect d. Both are required. It
// doesn't take th over: closing it remains the caller's part.
//
// NewTransport itself never fails. Where th or d is nil or an option can't be
// had, every RoundTrip returns the error that says so.
func NewTransport(th *throttle.Throttle, d dialect.Dialect, opts ...Option) *Transport {
	t := &Transport{throttle: th, dialect: d}
	for _, o := range opts {
		if o != nil {
			o(&t.options)
		}
	}
	if t.base == nil {
		t.base = http.DefaultTransport
	}
	t.broken = t.validate()
	return t
}

// validate reports the first part that is missing or can't be had.
func (t *Transport) validate() error {
	switch {
	case t.throttle == nil:
		return errors.New("headgate: NewTransport: the throttle is nil")
	case t.dialect == nil:
		return errors.New("headgate: NewTransport: the dialect is nil")
	}
	if len(t.fallbacks) > 0 && !dialect.SetsModel(t.dialect) {
		return fmt.Errorf("headgate: WithFallbacks: the dialect %q has no model that could be changed", t.dialect.Name())
	}
	return t.options.validate()
}

// RoundTrip sends the request once the throttle lets it through, and again where
// WithRetries says so.
//
// Its errors are: a *throttle.DeniedError where the call isn't let through; an
// error that matches throttle.ErrInvalidCall where no throttle could decide
// about it; one that begins with "headgate:" where the request couldn't be read
// or the Transport was put together wrongly; the context's error where it ended
// just before sending; and the base's own errors, unchanged. None of those made
// here names the URL or a credential. http.Client puts the URL in front of every
// error, query string included: a key in it will be in the client's error text.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.refuses(req); err != nil {
		return nil, abandon(req.Body, err)
	}
	asked, err := dialect.Read(t.dialect, req)
	body := req.Body
	if asked.Body != nil {
		body = asked.Body
	}
	if err != nil {
		return nil, abandon(body, fmt.Errorf("headgate: reading the request: %w", err))
	}
	w := &trip{Transport: t, req: req, asked: asked, body: body}
	if t.retries > 0 {
		w.arrived = time.Now()
	}
	o, err := w.attempt(nil)
	if err != nil {
		abandon(w.body, err)
		return t.denied(req, err)
	}
	if t.retries > 0 {
		o = w.repeat(o)
	}
	return o.resp, o.err
}

// refuses reports why no request can be sent, or not this one.
func (t *Transport) refuses(req *http.Request) error {
	switch {
	case t.broken != nil:
		return t.broken
	case t.throttle == nil: // not from NewTransport
		return errors.New("headgate: a Transport must come from NewTransport")
	case req.URL == nil:
		return errors.New("headgate: the request's URL is nil")
	}
	return nil
}

// CloseIdleConnections passes the call on to the base, where it has such a
// method; http.Client.CloseIdleConnections ends up here.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// abandon closes the body of a request that won't be sent, as an
// http.RoundTripper must on every way out, and returns err. What Close says is
// of no use to anybody then.
func abandon(body io.Closer, err error) error {
	if body != nil {
		_ = body.Close()
	}
	return err
}
