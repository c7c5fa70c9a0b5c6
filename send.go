package headgate

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

var errNoResponse = errors.New("headgate: the base RoundTripper returned neither a response nor an error")

// send passes an admitted request on to the base. body is what to send as its
// body, which may differ from the request's own.
func (t *Transport) send(c candidate, body io.ReadCloser, f fare) (o outcome) {
	req := c.req
	if err := over(req); err != nil {
		f.permit.Cancel()
		return outcome{sent: c, err: abandon(body, err)}
	}
	o = outcome{sent: c, probe: f.permit.Probe()} // asked before the permit ends
	l := &line{}
	out := req.WithContext(l.watch(req.Context()))
	out.Body = body
	var resp *http.Response
	received := false
	defer func() {
		// The charge stands unless the line shows that nothing was sent. That
		// goes for a base and a custom judge that panic, too.
		if received {
			return
		}
		f.permit.Done()
		if resp != nil && resp.Body != nil {
			_ = resp.Body.Close() // it reaches nobody who could
		}
	}()
	resp, err := t.base.RoundTrip(out)
	o.at = time.Now()
	switch {
	case err == nil && resp == nil:
		o.err = errNoResponse
		return o
	case err != nil:
		o.err, o.undone = err, l.unused(err)
		if o.undone {
			f.permit.Cancel()
		}
		return o
	}
	if resp.Request == nil || resp.Request == out {
		resp.Request = req // not a copy of ours, as if the base had got it
	}
	o.verdict, o.undone = t.receive(req, resp, f)
	tellJudged(req.Context(), o.verdict)
	if c.backup != "" {
		markServed(resp, c.backup)
	}
	o.resp = resp
	received = true
	return o
}

// receive judges the answer and sees to it that the call ends with its body.
func (t *Transport) receive(req *http.Request, resp *http.Response, f fare) (verdict throttle.Verdict, undone bool) {
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	empty := bodiless(req, resp) // asked first: judging may put another body there
	verdict, undone = dialect.JudgeUndone(t.dialect, resp)
	var meter *dialect.Meter
	if !empty {
		meter = dialect.NewMeter(t.dialect, resp)
	}
	// The answer to a probe opens the key for the whole fleet: where its body
	// may still refuse it, that is waited for.
	opens := meter != nil && verdict.Class == throttle.OK && f.permit.Probe()
	if !opens {
		f.permit.Answered(verdict)
	}
	f.permit.Reported(dialect.Reports(t.dialect, resp)...)
	f.refund = refunds(resp.StatusCode, verdict.Class)
	if verdict.Class != throttle.OK {
		f.guess = throttle.Cost{} // a failed call teaches nothing
	}
	if empty {
		f.end(whole, throttle.Cost{}, false)
		return verdict, undone
	}
	b := &body{inner: resp.Body, fare: f, meter: meter, opens: opens}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		resp.Body = b.untilClosed()
		return verdict, undone
	}
	resp.Body = b.within(req.Context())
	return verdict, undone
}

// bodiless reports whether there is nothing to read, so that the call has
// ended with the header.
func bodiless(req *http.Request, resp *http.Response) bool {
	return resp.Body == http.NoBody || req.Method == http.MethodHead ||
		resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified
}

// A line watches through httptrace whether a request got as far as a
// connection that bytes could be written to.
type line struct {
	wanted atomic.Bool // a connection was asked for
	got    atomic.Bool // and had: dialled, and past the TLS handshake
}

// watch returns a context for the request. The hooks of the caller's own trace
// are called too.
func (l *line) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { l.wanted.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { l.got.Store(true) },
	})
}

// unused reports whether no byte of the request was written, given the base's
// error. A base that traces nothing is believed only where the error can't come
// from later than the dial or the handshake.
func (l *line) unused(err error) bool {
	switch {
	case l.got.Load():
		return false
	case l.wanted.Load():
		return true
	}
	var op *net.OpError
	var badCertificate *tls.CertificateVerificationError
	var notTLS tls.RecordHeaderError
	return errors.As(err, &op) && op.Op == "dial" ||
		errors.As(err, &badCertificate) || errors.As(err, &notTLS)
}
