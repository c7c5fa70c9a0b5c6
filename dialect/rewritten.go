package dialect

import (
	"bytes"
	"io"
	"sync"
)

// A rewritten is a body in which the spans of a rewriting are replaced while it
// is read. It holds no more of it than a span.
type rewritten struct {
	*rewriting
	open func() (io.ReadCloser, error)

	mu     sync.Mutex // protects inner and closed: Close may come during a Read
	inner  io.ReadCloser
	closed bool

	at   int64  // how much of the inner body was read
	next int    // the span that comes next
	put  []byte // what is still to be handed out of the last one
	old  []byte // where a span's old bytes go
	err  error
}

// Read hands out the body. It opens it, if need be.
func (b *rewritten) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	inner, err := b.opened()
	if err != nil {
		return 0, err
	}
	for len(b.put) == 0 {
		if b.err != nil {
			return 0, b.err
		}
		if n, ok := b.plain(inner, p); ok {
			return n, b.err
		}
		b.replace(inner)
	}
	n := copy(p, b.put)
	b.put = b.put[n:]
	return n, nil
}

// plain reads what comes before the next span. It is false where that has been
// read.
func (b *rewritten) plain(inner io.Reader, p []byte) (int, bool) {
	if b.next < len(b.spans) {
		left := b.spans[b.next].from - b.at
		if left == 0 {
			return 0, false
		}
		p = p[:min(int64(len(p)), left)]
	}
	n, err := inner.Read(p)
	b.at += int64(n)
	if b.next < len(b.spans) && err == io.EOF {
		err = errOtherBody // it is shorter
	}
	b.err = err
	return n, true
}

// replace reads over a span. Its bytes have to be those that were there when the
// body was scanned: another body would be spoilt.
func (b *rewritten) replace(inner io.Reader) {
	s := &b.spans[b.next]
	b.old = append(b.old[:0], s.text...)
	n, err := io.ReadFull(inner, b.old)
	b.at += int64(n)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF || err == nil && !bytes.Equal(b.old, s.text):
		b.err = errOtherBody
	case err != nil:
		b.err = err
	default:
		b.put = b.inPlaceOf(s)
		b.next++
	}
}

func (b *rewritten) opened() (io.ReadCloser, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, io.ErrClosedPipe
	}
	if b.inner == nil {
		inner, err := b.open()
		if err != nil {
			return nil, err
		}
		b.inner = inner
	}
	return b.inner, nil
}

// Close closes the body, if it was opened.
func (b *rewritten) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.inner == nil {
		b.closed = true
		return nil
	}
	b.closed = true
	return b.inner.Close()
}
