package dialect

import (
	"io"
	"net/http"
	"strings"
	"sync"
)

// A bodyScan is what the scan of a request's body finds.
type bodyScan struct {
	vendor *vendor

	model   string
	outCap  int64 // the largest cap of the output, 0 without one
	choices int64 // how many answers are asked for, 0 where that isn't said
	scanned int64 // bytes
	size    int64 // of the whole body, as far as known
	prose   proseMeter
}

// read scans the request's body and returns what to send in its place, nil if
// it is untouched. Trouble with reading is left for the sender to find.
func (b *bodyScan) read(r *http.Request) io.ReadCloser {
	scan := newScanner(maxModel, b.visit)
	scan.measure = &b.prose
	kept := b.scan(r, scan)
	b.prose.endString()
	b.size = max(b.scanned, min(r.ContentLength, maxCount))
	return kept
}

func (b *bodyScan) scan(r *http.Request, scan *scanner) io.ReadCloser {
	if r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			b.scanned = scanAll(scan, body)
			_ = body.Close()
			return nil
		}
	}
	kept, front := peek(r.Body, maxPeek, r.Context().Done())
	_, _ = scan.Write(front)
	b.scanned = int64(len(front))
	return kept
}

// pieces are what copies of bodies are read into. io.Copy isn't used because a
// strings.Reader would hand over its whole text in a fresh slice.
var pieces = sync.Pool{New: func() any { return new([largePiece]byte) }}

// scanAll scans a body, up to maxScan or until it turns out not to be JSON,
// and returns how much that was.
func scanAll(scan *scanner, body io.Reader) (size int64) {
	piece := pieces.Get().(*[largePiece]byte)
	defer pieces.Put(piece)
	for size < maxScan && scan.state != broken {
		n, err := body.Read(piece[:])
		_, _ = scan.Write(piece[:n])
		size += int64(n)
		if err != nil {
			break
		}
	}
	return size
}

func (b *bodyScan) visit(at *path, kind valueKind, text *textBuffer) {
	if at.is("model") {
		b.model = ""
		if kind == jsonString {
			b.model = strings.TrimPrefix(text.String(), b.vendor.modelPrefix)
		}
		return
	}
	for _, field := range b.vendor.caps {
		if n, ok := readCount(kind, text); ok && at.is(field) {
			b.outCap = max(b.outCap, n)
		}
	}
	for _, field := range b.vendor.choices {
		if n, ok := readCount(kind, text); ok && at.is(field) {
			b.choices = max(b.choices, n)
		}
	}
}
