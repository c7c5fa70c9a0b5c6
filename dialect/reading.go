package dialect

import (
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// maxKept is how much of a scalar is looked at in the body of a 2xx.
const maxKept = 1024

// A reading is what is found in the body of a 2xx: what was used, and the
// first error. It is told of the body text by text, such as the data of one
// event, and keeps none of it.
type reading struct {
	vendor *vendor
	resp   *http.Response // without its body
	scan   *scanner
	usage  usageReport
	facts  facts

	verdict throttle.Verdict
	judged  bool // verdict is that of an error
}

func newReading(v *vendor, resp *http.Response) *reading {
	r := &reading{
		vendor: v,
		resp:   &http.Response{StatusCode: resp.StatusCode, Header: resp.Header, Request: resp.Request},
		usage:  newUsageReport(v.usage),
		facts:  facts{vendor: v},
	}
	if resp.Request != nil && !maySend(resp.Request.Method) {
		r.usage.fields = nil // what it tells is the usage of another call
	}
	r.scan = newScanner(maxKept, r.visit)
	r.scan.ended = r.judge
	return r
}

// framed returns where the body goes in, by its type: that decides where one
// text ends and the next begins.
func (r *reading) framed(contentType string) io.Writer {
	switch media := mediaType(contentType); {
	case media == "text/event-stream":
		return &eventReader{to: r}
	}
	return wholeBody{r}
}

// A wholeBody is a body that is JSON, one text or several.
type wholeBody struct{ to *reading }

// Write takes the next piece.
func (b wholeBody) Write(p []byte) (int, error) {
	b.to.write(p)
	return len(p), nil
}

func (r *reading) write(p []byte) { _, _ = r.scan.Write(p) }

func (r *reading) visit(at *path, kind valueKind, text *textBuffer) {
	r.usage.visit(at, kind, text)
	if len(r.vendor.signs) > 0 && !r.judged {
		r.facts.visit(at, kind, text)
	}
}

// endText ends a text, whole or not.
func (r *reading) endText() {
	r.judge()
	r.scan.reset()
}

// judge judges what the text has said, if that was an error, and forgets it.
func (r *reading) judge() {
	if r.facts.failed && !r.judged {
		r.judged = true
		r.verdict = r.vendor.judge(&answer{
			status: r.facts.status(), within: true, resp: r.resp, facts: &r.facts, now: time.Now(),
		})
	}
	r.facts.reset()
}

// isStream reports whether a body of this type is a stream of texts.
func isStream(contentType string) bool {
	return mediaType(contentType) == "text/event-stream"
}

// mediaType returns a Content-Type without its parameters, also of one that is
// malformed.
func mediaType(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(strings.ToLower(contentType), ";")
		media = strings.TrimSpace(media)
	}
	return media
}
