package headgate

import (
	"context"
	"io"
	"net/http"
	"sync"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// A body passes an answer's bytes on as they come, shows them to a meter on
// the way, and ends the call exactly once, however Read, Close and the end of
// the request's context race.
//
// It has no WriteTo on purpose: io.Copy would hand the inner body's bytes on
// past the meter.
type body struct {
	inner   io.ReadCloser
	fare    fare
	toClose bool        // a switched protocol: only Close ends the call
	stop    func() bool // releases the watch on the context; nil without one

	mu     sync.Mutex     // protects what follows; never held during I/O
	meter  *dialect.Meter // nil, and then deaf: no usage to read, or the call has ended
	ended  bool
	judged bool // an error in the body has been told
	opens  bool // the call is a probe, and a body without an error opens its key

	tells sync.WaitGroup // verdicts on their way to the throttle
}

// A duplex is the body of a switched protocol, which is written to as well.
type duplex struct {
	*body
	io.Writer
}

// within returns what to hand out for an answer whose call ends with ctx, too.
// That parks no goroutine.
func (b *body) within(ctx context.Context) io.ReadCloser {
	if ctx.Done() != nil {
		b.stop = context.AfterFunc(ctx, func() { b.settle(cut) })
	}
	return b.asWritable()
}

// untilClosed returns what to hand out for a switched protocol, which net/http
// hands over for good: neither the context nor the other side's silence ends
// it.
func (b *body) untilClosed() io.ReadCloser {
	b.toClose = true
	return b.asWritable()
}

// asWritable keeps the inner body's Write where it has one, and adds none where
// it hasn't: callers ask for it to see whether a protocol was switched.
func (b *body) asWritable() io.ReadCloser {
	if w, ok := b.inner.(io.Writer); ok {
		return duplex{b, w}
	}
	return b
}

// Read passes on what the inner body returns.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.inner.Read(p)
	if n > 0 {
		b.show(p[:n])
	}
	switch {
	case err == nil || b.toClose:
	case err == io.EOF:
		b.end(whole)
	default:
		b.end(cut)
	}
	return n, err
}

// Close ends the call first, because closing the inner body may block.
func (b *body) Close() error {
	b.end(cut)
	return b.inner.Close()
}

// show lets the meter see bytes before they are the caller's. An error among
// them, after a status of 200, is told as soon as it is complete.
func (b *body) show(p []byte) {
	b.mu.Lock()
	b.meter.Write(p)
	v, told := b.verdict()
	if told {
		b.tells.Add(1)
	}
	b.mu.Unlock()
	if told {
		b.fare.permit.Answered(v)
		b.tells.Done()
	}
}

// verdict returns what an error in the body means, once. b.mu is held.
func (b *body) verdict() (throttle.Verdict, bool) {
	v, ok := b.meter.Verdict()
	if !ok || b.judged {
		return throttle.Verdict{}, false
	}
	b.judged = true
	b.fare.refund = b.fare.refund || refunds(http.StatusOK, v.Class)
	return v, true
}

func (b *body) end(how ending) {
	if b.stop != nil {
		b.stop()
	}
	b.settle(how)
}

// settle settles the fare at its first call. It is what the context calls, and
// so doesn't touch stop, which may not be set yet.
func (b *body) settle(how ending) {
	b.mu.Lock()
	if b.ended {
		b.mu.Unlock()
		return
	}
	b.ended = true
	usage, known := b.meter.Usage()
	if b.meter.Complete() {
		how = whole // though nobody read on to the end of the file
	}
	v, told := b.verdict() // an error may have become complete with the end
	b.meter = nil          // what it remembers isn't needed while the caller drains
	fare, opens := b.fare, b.opens && !b.judged
	if b.judged {
		fare.guess = throttle.Cost{} // as in receive
	}
	b.mu.Unlock()
	switch {
	case told:
		fare.permit.Answered(v)
	case opens:
		fare.permit.Answered(throttle.Verdict{Class: throttle.OK})
	}
	b.tells.Wait() // the permit must not end before what it answered
	fare.end(how, usage, known)
}
