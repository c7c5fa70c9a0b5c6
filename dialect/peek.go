package dialect

import (
	"io"
	"sync"
	"time"
)

// peekTime is how long a peek waits for a body that stalls.
const peekTime = time.Second

// Sizes of a read ahead: most bodies are small.
const (
	smallPiece = 4 << 10
	largePiece = 32 << 10
)

// A peeked is a body whose front has been read and will be read again. After
// the front come the body's own bytes, errors and all, as if nothing had been
// read.
type peeked struct {
	src  io.ReadCloser
	done chan struct{} // closed when the reading ahead is over

	mu      sync.Mutex // protects what follows; never held during I/O
	ahead   []byte     // read from src and not yet passed on
	err     error      // how src ended while reading ahead
	stopped bool       // read no further ahead
	closed  bool
}

// peek reads up to most bytes from src, until its end, until stop is closed or
// for peekTime, and returns a body that has them still to come, and the bytes.
// The caller must not use src any more.
func peek(src io.ReadCloser, most int, stop <-chan struct{}) (body *peeked, front []byte) {
	b := &peeked{src: src, done: make(chan struct{})}
	go b.readAhead(most)
	timer := time.NewTimer(peekTime)
	defer timer.Stop()
	select {
	case <-b.done:
	case <-timer.C:
	case <-stop:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	return b, b.ahead
}

// readAhead reads until there are most bytes, or until it is stopped. A read
// that stalls it finishes later: Read waits for that, and Close ends it.
func (b *peeked) readAhead(most int) {
	defer close(b.done)
	piece := make([]byte, smallPiece)
	for got, more := 0, true; more && got < most; {
		n, err := b.src.Read(piece[:min(len(piece), most-got)])
		got += n
		more = b.keep(piece[:n], err)
		if n == len(piece) && n < largePiece {
			piece = make([]byte, largePiece)
		}
	}
}

// keep stores what was read and reports whether to go on.
func (b *peeked) keep(p []byte, err error) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.ahead = append(b.ahead, p...)
	}
	b.err = err
	return err == nil && !b.stopped
}

// Read passes on what was read ahead, then what the body goes on with.
func (b *peeked) Read(p []byte) (int, error) {
	if n, ok := b.take(p); ok {
		return n, nil
	}
	<-b.done
	if n, ok := b.take(p); ok {
		return n, nil
	}
	if b.err != nil { // not written any more
		return 0, b.err
	}
	return b.src.Read(p)
}

// take passes on bytes that were read ahead, if there are any.
func (b *peeked) take(p []byte) (n int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.ahead) == 0 {
		return 0, false
	}
	n = copy(p, b.ahead)
	b.ahead = b.ahead[n:]
	return n, true
}

// Close closes the body. It doesn't wait for a read that stalls, which ends
// when the body is closed.
func (b *peeked) Close() error {
	b.mu.Lock()
	b.ahead, b.stopped, b.closed = nil, true, true
	b.mu.Unlock()
	return b.src.Close()
}
