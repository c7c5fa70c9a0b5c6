package dialect

import (
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
)

// A bodyScan is what the scan of a request's body finds.
type bodyScan struct {
	vendor   *vendor
	wantsKey bool // the credential is looked for here
	copyOnly bool // the request has been sent, so its own body isn't to be touched

	model   string
	key     [maxBodyKey]string
	outCap  int64 // the largest cap of the output, 0 without one
	choices int64 // how many answers are asked for, 0 where that isn't said
	scanned int64 // bytes
	size    int64 // of the whole body, as far as known
	prose   proseMeter
}

// maxBodyKey bounds a vendor's bodyKey.
const maxBodyKey = 2

// maxForm is how much of a form is read, in bytes.
const maxForm = 64 << 10

// isNeeded reports whether the body can tell what isn't known yet.
func (b *bodyScan) isNeeded() bool {
	v := b.vendor
	return v.modelAt != "" || v.tokens || len(v.caps) > 0 || b.wantsKey
}

// credential returns the key found, its parts with a colon between them.
func (b *bodyScan) credential() string {
	if b.key[0] == "" {
		return ""
	}
	return strings.Join(b.key[:len(b.vendor.bodyKey)], ":")
}

// read reads the request's body and returns what to send in its place, nil if
// it is untouched. Trouble with reading is left for the sender to find.
func (b *bodyScan) read(r *http.Request) io.ReadCloser {
	switch kindOf(r) {
	case jsonBody:
		return b.readJSON(r)
	case formBody:
		if b.wantsKey || b.vendor.forms {
			return b.readForm(r)
		}
	}
	return nil
}

func (b *bodyScan) readJSON(r *http.Request) io.ReadCloser {
	scan := newScanner(maxModel, b.visit)
	scan.measure = &b.prose
	kept := b.scan(r, scan)
	b.prose.endString()
	b.size = max(b.scanned, min(r.ContentLength, maxCount))
	return kept
}

func (b *bodyScan) scan(r *http.Request, scan *scanner) io.ReadCloser {
	if body := copyOf(r); body != nil {
		b.scanned = scanAll(scan, body)
		_ = body.Close()
		return nil
	}
	if b.copyOnly {
		return nil
	}
	kept, front := peek(r.Body, maxPeek, r.Context().Done())
	_, _ = scan.Write(front)
	b.scanned = int64(len(front))
	return kept
}

func (b *bodyScan) readForm(r *http.Request) (kept io.ReadCloser) {
	var front []byte
	if body := copyOf(r); body != nil {
		front, _ = io.ReadAll(io.LimitReader(body, maxForm))
		_ = body.Close()
	} else if !b.copyOnly {
		kept, front = peek(r.Body, maxForm, r.Context().Done())
	}
	form, _ := url.ParseQuery(string(front)) // as far as it is one
	if b.vendor.modelAt != "" {
		b.model = form.Get(b.vendor.modelAt)
	}
	for i, field := range b.vendor.bodyKey {
		b.key[i] = form.Get(field)
	}
	return kept
}

// copyOf returns a copy of the request's body, nil where none can be had.
//
// GetBody is asked twice, because some, such as that of Azure's SDK, make no
// copy: they rewind the body and return that, and what is read or closed of it
// is lost to the request. Those are known by returning the same reader again.
func copyOf(r *http.Request) io.ReadCloser {
	if r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	again, err := r.GetBody()
	if err != nil || same(body, again) {
		return nil
	}
	_ = again.Close()
	return body
}

// same is a == b where that doesn't panic.
func same(a, b io.ReadCloser) bool { return reflect.ValueOf(a).Comparable() && a == b }

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
	v := b.vendor
	if v.modelAt != "" && at.is(v.modelAt) {
		b.model = ""
		if kind == jsonString {
			b.model = strings.TrimPrefix(text.String(), v.modelPrefix)
		}
		return
	}
	for _, field := range v.caps {
		if n, ok := readCount(kind, text); ok && at.is(field) {
			b.outCap = max(b.outCap, n)
		}
	}
	for _, field := range v.choices {
		if n, ok := readCount(kind, text); ok && at.is(field) {
			b.choices = max(b.choices, n)
		}
	}
	for i, field := range v.bodyKey {
		if b.wantsKey && kind == jsonString && at.is(field) {
			b.key[i] = text.String()
		}
	}
}
