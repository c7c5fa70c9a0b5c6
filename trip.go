package headgate

import (
	"io"
	"net/http"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// A trip is one pass through RoundTrip: all attempts that are made for a
// request. It belongs to one goroutine.
type trip struct {
	*Transport
	req     *http.Request   // the caller's
	asked   dialect.Request // and what was read from it
	body    io.ReadCloser   // and what to send as its body; nil: none, or an attempt has it
	taken   bool            // an attempt has it
	arrived time.Time       // when RoundTrip was called; zero where nothing is repeated
	bound   bool            // an attempt may have reached the vendor: only the same may follow
}

// A candidate is one form in which the request can be sent: as it is, or for a
// backup model.
type candidate struct {
	req    *http.Request
	asked  dialect.Request
	backup string // its model; "": the request is as the caller made it
}

// An outcome is what became of one attempt.
type outcome struct {
	sent    candidate
	resp    *http.Response
	err     error            // of the base, if there is no response
	verdict throttle.Verdict // on the response
	at      time.Time        // when the header or the error was there
	undone  bool             // the vendor did nothing with the request
	probe   bool             // it was the probe of a refused key
	due     time.Time        // no repetition leaves earlier
}

// attempt has the request admitted and sends it. Its error means that it
// wasn't admitted. before is the attempt that is repeated, nil for the first.
func (w *trip) attempt(before *outcome) (outcome, error) {
	c, f, err := w.admitAny(before)
	if err != nil {
		return outcome{}, err
	}
	body, err := w.bodyFor(c)
	if err != nil {
		f.permit.Cancel()
		return outcome{}, err
	}
	if before != nil {
		before.discard()
	}
	return w.send(c, body, f), nil
}

// bodyFor returns the body of an attempt: the request's own for the first, a
// new copy for every other.
func (w *trip) bodyFor(c candidate) (io.ReadCloser, error) {
	if w.taken {
		return newBody(c.req)
	}
	w.taken = true
	body := w.body
	w.body = nil
	if c.backup != "" && c.req.URL == w.req.URL { // so it's the body that was rewritten
		_ = abandon(body, nil)
		return c.req.Body, nil
	}
	return body, nil
}

// newBody returns a copy of a request's body.
func newBody(req *http.Request) (io.ReadCloser, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return req.Body, nil
	}
	return req.GetBody()
}

// end ends the attempt's call, so that nothing of it is held while the next
// waits. Its response can still be read.
func (o *outcome) end() {
	if o.resp == nil {
		return
	}
	if b, ok := o.resp.Body.(interface{ end(ending) }); ok {
		b.end(cut)
	}
}

// discard closes the response that the caller won't see. Its body has been read
// as far as it was judged, so a connection on which no more was to come is free
// already; another one is given up rather than read to an end that may never
// come.
func (o *outcome) discard() {
	if o.resp != nil {
		_ = o.resp.Body.Close()
	}
}
