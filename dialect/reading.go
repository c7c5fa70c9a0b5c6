package dialect

import (
	"io"
	"mime"
	"net/http"
	"slices"
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

	framed   bool // the body is a stream of texts
	finished bool // and has said that it is at its end
	watches  bool // for errors
	verdict  throttle.Verdict
	judged   bool // verdict is that of an error
}

func newReading(v *vendor, resp *http.Response) *reading {
	r := &reading{
		vendor: v,
		resp:   &http.Response{StatusCode: resp.StatusCode, Request: resp.Request},
		usage:  newUsageReport(v.usage, resp.Header),
		facts:  facts{vendor: v},
		// Of what a GET of an AI vendor tells, an error is that of another call,
		// too: of a job, for example.
		watches: len(v.signs) > 0 && !(v.tokens && asksForNoModel(resp.Request)),
	}
	if r.watches && v.wait != nil {
		r.resp.Header = waitHeaders(resp.Header)
	}
	if resp.Request != nil && !maySend(resp.Request.Method) {
		r.usage.fields = nil // what it tells is the usage of another call
	}
	r.scan = newScanner(maxKept, r.visit)
	r.scan.ended = r.judge
	return r
}

// intake returns where the body goes in, by its type: that decides where one
// text ends and the next begins.
func (r *reading) intake(contentType string) io.Writer {
	r.framed = isStream(contentType)
	switch media := mediaType(contentType); {
	case media == eventStream:
		return &eventReader{to: r}
	case media == amazonStream:
		return newFrameReader(r)
	case slices.Contains(lineTypes, media):
		return lineReader{r}
	}
	return wholeBody{r}
}

// Types of streams.
const (
	eventStream  = "text/event-stream"
	amazonStream = "application/vnd.amazon.eventstream"
)

var lineTypes = []string{
	"application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines", "application/x-jsonlines", "application/stream+json",
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
	if r.watches && !r.judged {
		r.facts.visit(at, kind, text)
	}
}

// waitHeaders returns those headers of a 2xx that tell the wait of an error
// within it. A copy, because the answer is its reader's by then, who may change
// it while somebody else ends the reading.
func waitHeaders(h http.Header) http.Header {
	kept := make(http.Header, 3)
	for _, name := range [...]string{"Date", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"} {
		if values := h[name]; len(values) > 0 {
			kept[name] = []string{values[0]}
		}
	}
	return kept
}

// fail notes that the next text is an error of the given type, as AWS names it
// in a stream: "throttlingException".
func (r *reading) fail(name []byte) {
	if len(r.vendor.codeHeaders) == 0 || len(name) == 0 || r.judged {
		return
	}
	r.facts.addCode(r.vendor.codeHeaders[0], name)
	first := &r.facts.text[r.facts.codes[len(r.facts.codes)-1].from]
	if isLower(*first) {
		*first &^= 0x20 // elsewhere its name is that of the type
	}
	r.facts.failed = true
}

// endText ends a text, whole or not.
func (r *reading) endText() {
	r.judge()
	r.scan.reset()
}

// judge judges what the text has said, if that was an error, and forgets it.
func (r *reading) judge() {
	if r.watches && !r.judged && r.facts.isError() {
		r.judged = true
		r.verdict, _ = r.vendor.judge(&answer{
			status: r.facts.status(), within: true, resp: r.resp, facts: &r.facts, now: time.Now(),
		})
	}
	r.facts.reset()
}

// isStream reports whether a body of this type is a stream of texts.
func isStream(contentType string) bool {
	media := mediaType(contentType)
	return media == eventStream || media == amazonStream || slices.Contains(lineTypes, media)
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
