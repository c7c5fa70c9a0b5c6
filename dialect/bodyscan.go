package dialect

import (
	"errors"
	"io"
	"net/http"
	"strings"
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
	sink := &boundedScan{scan: scan, left: maxScan}
	kept := b.scan(r, sink)
	b.prose.endString()
	b.scanned = maxScan - sink.left
	b.size = max(b.scanned, min(r.ContentLength, maxCount))
	return kept
}

func (b *bodyScan) scan(r *http.Request, to io.Writer) io.ReadCloser {
	if r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			_, _ = io.Copy(to, body) // without a copy, for bodies in memory
			_ = body.Close()
			return nil
		}
	}
	kept, front := peek(r.Body, maxPeek, r.Context().Done())
	_, _ = to.Write(front)
	return kept
}

// A boundedScan ends a copy when the scanner has seen enough.
type boundedScan struct {
	scan *scanner
	left int64
}

var errSeenEnough = errors.New("seen enough")

func (s *boundedScan) Write(p []byte) (int, error) {
	n := int(min(int64(len(p)), s.left))
	s.scan.Write(p[:n])
	s.left -= int64(n)
	if s.left == 0 || s.scan.state == broken {
		return n, errSeenEnough
	}
	return n, nil
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
