package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// A span is a piece of a body: the value of a model, its quotes included.
type span struct {
	from, to int64
	text     []byte // what stands there
}

// maxSpans is how often a body may name its model: twice is odd already.
const maxSpans = 16

// withModelInBody returns a copy of r whose JSON body names another model.
func (v *vendor) withModelInBody(r *http.Request, model string) (*http.Request, error) {
	if kindOf(r) != jsonBody || r.GetBody == nil {
		return nil, ErrFixedModel
	}
	spans, ok := v.findModel(r)
	if !ok {
		return nil, ErrFixedModel
	}
	rewrite := &rewriting{spans: spans, prefix: v.modelPrefix, model: model}
	open := r.GetBody
	out := r.WithContext(r.Context())
	out.Body = &rewritten{rewriting: rewrite, open: open}
	out.GetBody = func() (io.ReadCloser, error) {
		body, err := open()
		if err != nil {
			return nil, err
		}
		return &rewritten{rewriting: rewrite, inner: body}, nil
	}
	if out.ContentLength > 0 {
		out.ContentLength += rewrite.grows()
		if r.Header.Get("Content-Length") != "" { // not net/http's, but maybe a base's
			out.Header = r.Header.Clone()
			out.Header.Set("Content-Length", strconv.FormatInt(out.ContentLength, 10))
		}
	}
	return out, nil
}

// findModel scans a copy of the body for where it names the model. It is false
// where it does so nowhere, too often, or the body isn't sound.
func (v *vendor) findModel(r *http.Request) ([]span, bool) {
	body := copyOf(r)
	if body == nil {
		return nil, false
	}
	defer body.Close()
	f := newModelFinder(v)
	piece := pieces.Get().(*[largePiece]byte)
	defer pieces.Put(piece)
	for f.at <= maxScan && f.scan.state != broken {
		n, err := body.Read(piece[:])
		f.write(piece[:n])
		if err != nil {
			return f.spans, err == io.EOF && f.isSound()
		}
	}
	return nil, false
}

// A modelFinder notes where in a body the model stands. It gives the scanner
// the bytes that mean something one by one, and so knows which one it is at.
type modelFinder struct {
	vendor *vendor
	scan   *scanner
	spans  []span
	at     int64 // how far it is
	from   int64 // where the last string began, and
	text   []byte

	refused bool // the model is named too often, or too long to be kept
}

func newModelFinder(v *vendor) *modelFinder {
	f := &modelFinder{vendor: v}
	f.scan = newScanner(maxModel, f.visit)
	return f
}

// isSound reports whether the whole of the body was JSON and named a model that
// can be replaced.
func (f *modelFinder) isSound() bool {
	return f.scan.between() && len(f.spans) > 0 && !f.refused && f.at <= maxScan
}

func (f *modelFinder) write(p []byte) {
	for len(p) > 0 {
		n := 1
		if f.scan.state == inString {
			n = max(1, plainLen(p))
		}
		f.step(p[:n])
		p = p[n:]
	}
}

// plainLen is how many bytes come before the next quote or backslash.
func plainLen(p []byte) int {
	n := len(p)
	if i := bytes.IndexByte(p, '"'); i >= 0 {
		n = i
	}
	if i := bytes.IndexByte(p[:n], '\\'); i >= 0 {
		n = i
	}
	return n
}

func (f *modelFinder) step(p []byte) {
	inside := f.scan.state == inString || f.scan.state == inEscape
	if inside && len(f.text) <= maxModel {
		f.text = append(f.text, p...)
	}
	_, _ = f.scan.Write(p)
	if !inside && f.scan.state == inString {
		f.from, f.text = f.at, append(f.text[:0], p...)
	}
	f.at += int64(len(p))
}

// visit is called while the quote that ends a string is scanned.
func (f *modelFinder) visit(at *path, kind valueKind, text *textBuffer) {
	if kind != jsonString || !at.is(f.vendor.modelAt) {
		return
	}
	if len(f.text) > maxModel || len(f.spans) == maxSpans {
		f.refused = true // it isn't rewritten by halves
		return
	}
	f.spans = append(f.spans, span{f.from, f.at + 1, bytes.Clone(f.text)})
}

// A rewriting is what becomes of the spans of a body.
type rewriting struct {
	spans         []span
	prefix, model string
}

// inPlaceOf returns the new value for a span. A prefix that the old one had
// stays.
func (w *rewriting) inPlaceOf(s *span) []byte {
	name := w.model
	if w.prefix != "" && bytes.HasPrefix(s.text, []byte(`"`+w.prefix)) {
		name = w.prefix + name
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(name) // a string always can be
	return bytes.TrimSuffix(b.Bytes(), newline)
}

// grows is how much longer the body becomes, or, if negative, shorter.
func (w *rewriting) grows() (n int64) {
	for i := range w.spans {
		s := &w.spans[i]
		n += int64(len(w.inPlaceOf(s))) - (s.to - s.from)
	}
	return n
}

var errOtherBody = errors.New("dialect: GetBody returned another body than before")
