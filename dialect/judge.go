package dialect

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// maxJudged is how much of a body is read to judge it, and how much is looked
// at once it is decompressed.
const maxJudged = 64 << 10

// Judge returns what an answer means. Of an answer of 400 and above it reads
// at most 64 KiB of the body, until its end or for one second, and puts them
// back: the body then yields the same bytes and errors as before, and the
// header isn't touched. A body in gzip is understood. Other answers aren't
// read, except for a Custom.Judge, which says when.
//
// The verdict's Detail has the status and the vendor's error code, never the
// text of the answer: that may name the credential.
func Judge(d Dialect, resp *http.Response) throttle.Verdict {
	v := d.spec()
	var body []byte
	if resp.StatusCode >= 400 || len(v.judges) > 0 && isShortJSON(resp) {
		body = look(resp)
	}
	verdict := v.judge(resp, body, time.Now())
	for _, judge := range v.judges {
		verdict = judge(resp, body, verdict)
	}
	return verdict
}

// isShortJSON reports whether an answer can be read whole without holding up a
// stream.
func isShortJSON(resp *http.Response) bool {
	return resp.StatusCode/100 == 2 && isJSON(resp.Header.Get("Content-Type")) &&
		resp.ContentLength > 0 && resp.ContentLength <= maxJudged
}

// look returns the front of an answer's body, decompressed, and puts the body
// back together.
func look(resp *http.Response) []byte {
	if resp.Body == nil || resp.Body == http.NoBody {
		return nil
	}
	kept, front := peek(resp.Body, maxJudged, nil)
	resp.Body = kept
	switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
	case "", "identity":
		return front
	case "gzip", "x-gzip":
		return gunzip(front)
	}
	return nil
}

// gunzip returns what can be decompressed of p, at most maxJudged.
func gunzip(p []byte) []byte {
	zr, err := gzip.NewReader(bytes.NewReader(p))
	if err != nil {
		return nil
	}
	plain, _ := io.ReadAll(io.LimitReader(zr, maxJudged)) // p may be cut off
	return plain
}

// judge is the vendor's own verdict, before any Custom.
func (v *vendor) judge(resp *http.Response, body []byte, now time.Time) throttle.Verdict {
	if resp.StatusCode < 400 {
		return throttle.Verdict{}
	}
	facts := factsOf(v, body)
	class := v.classify(resp, facts)
	return throttle.Verdict{
		Class:  class,
		Scope:  v.scopeOf(class),
		Wait:   waitOf(class, resp.Header, body, facts, now),
		Detail: v.detail(resp, facts),
	}
}

func (v *vendor) classify(resp *http.Response, facts *facts) throttle.Class {
	class := plainMeaning(resp.StatusCode)
	for i := range v.rules {
		if v.rules[i].matches(resp.StatusCode, facts) {
			class = v.rules[i].class
			break
		}
	}
	if class == throttle.ModelDenied && asksForNoModel(resp.Request) {
		return throttle.BadRequest // a file or a job doesn't exist
	}
	return class
}

// asksForNoModel reports whether an answer can't be about a model, because the
// request is of a kind that uses none.
func asksForNoModel(r *http.Request) bool {
	return r != nil && (!maySend(r.Method) || r.Method == http.MethodDelete)
}

func (v *vendor) scopeOf(class throttle.Class) throttle.Scope {
	switch class {
	case throttle.Busy, throttle.Overloaded:
		return v.busyScope
	case throttle.KeyRefused, throttle.CreditExhausted:
		return throttle.ScopeKey
	case throttle.ModelDenied:
		return throttle.ScopeModel
	}
	return throttle.ScopeNone
}

// waitOf returns the vendor's figure, 0 where it names none. A refusal of the
// key has one only in the header: texts about credit name dates and amounts
// for people. Waiting doesn't help with a denied model.
func waitOf(class throttle.Class, h http.Header, body []byte, facts *facts, now time.Time) time.Duration {
	switch class {
	case throttle.KeyRefused, throttle.CreditExhausted:
		d, _ := pause.FromHeaders(h, now)
		return d
	case throttle.Busy, throttle.Overloaded:
		if d, ok := pause.FromHeaders(h, now); ok {
			return d
		}
		return waitInBody(body, facts, now)
	}
	return 0
}

// waitInBody looks for a wait in the fields of a body, in its texts for
// people, and in all of it where those aren't found.
func waitInBody(body []byte, facts *facts, now time.Time) time.Duration {
	if d, ok := pause.FromJSON(body, now); ok {
		return d
	}
	if len(facts.messages) == 0 {
		d, _ := pause.FromText(string(body))
		return d
	}
	for _, message := range facts.messages {
		if d, ok := pause.FromText(message); ok {
			return d
		}
	}
	return 0
}
