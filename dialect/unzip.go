package dialect

import (
	"bufio"
	"compress/gzip"
	"io"
)

// An unzipper decompresses a gzip stream that is pushed into it, in bounded
// memory. compress/gzip only pulls, and so runs in a goroutine of its own,
// which works while a Write waits for it and ends with stop.
type unzipper struct {
	pieces chan []byte
	taken  chan struct{} // a piece is used up
	done   chan struct{}
}

func newUnzipper(to io.Writer) *unzipper {
	u := &unzipper{pieces: make(chan []byte), taken: make(chan struct{}), done: make(chan struct{})}
	go u.run(to)
	return u
}

// Write takes the next piece and returns when it has been used up. It always
// returns len(p), nil, and must not be called after stop.
func (u *unzipper) Write(p []byte) (int, error) {
	if len(p) > 0 {
		u.pieces <- p
		<-u.taken
	}
	return len(p), nil
}

// stop ends the stream, and returns when what was still inside has come out.
// It must be called once.
func (u *unzipper) stop() {
	close(u.pieces)
	<-u.done
}

func (u *unzipper) run(to io.Writer) {
	defer close(u.done)
	in := &pieceReader{unzipper: u}
	decompress(to, bufio.NewReader(in))
	in.discard()
}

// decompress passes on one member of a gzip stream after another. Member by
// member, because a Reader for all of them keeps the end of one back until it
// has seen the next.
func decompress(to io.Writer, from *bufio.Reader) {
	buffer := make([]byte, smallPiece)
	zr, err := gzip.NewReader(from)
	for ; err == nil; err = zr.Reset(from) {
		zr.Multistream(false)
		if _, err := io.CopyBuffer(to, zr, buffer); err != nil {
			return // a broken member; what it had is read
		}
	}
}

// A pieceReader reads the pieces one after another.
type pieceReader struct {
	*unzipper
	piece []byte
	owed  bool // the current piece's Write still waits
}

// Read returns bytes of the current piece, and waits for the next one only
// where there are none left.
func (r *pieceReader) Read(p []byte) (int, error) {
	for len(r.piece) == 0 {
		if !r.more() {
			return 0, io.EOF
		}
	}
	n := copy(p, r.piece)
	r.piece = r.piece[n:]
	return n, nil
}

// more lets the current piece's Write return and waits for the next one. It is
// false at the end.
func (r *pieceReader) more() bool {
	if r.owed {
		r.taken <- struct{}{}
	}
	r.piece, r.owed = <-r.pieces
	return r.owed
}

// discard takes what comes after the end of the stream, or after bytes that
// aren't gzip.
func (r *pieceReader) discard() {
	for r.more() {
	}
}
