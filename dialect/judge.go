package dialect

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// maxJudged is how much of a body is read to judge it, and how much is looked
// at once it is decompressed.
const maxJudged = 64 << 10

// Judge returns what an answer means. Of an answer of 400 and above, and of a
// 2xx whose Content-Type is JSON or a stream of it, it reads at most 64 KiB
// of the body, until its end or for one second, and puts them back: the body
// then yields the same bytes and errors as before, and the header isn't
// touched. A body in gzip is understood. So it sees the errors that vendors
// hide in an answer of 200, if they come within that.
//
// Judge holds up a stream. Whoever passes a body on while it arrives uses
// JudgeStatus, and a Meter's Verdict.
//
// The verdict's Detail has the status and the vendor's error code, never the
// text of the answer: that may name the credential.
func Judge(d Dialect, resp *http.Response) throttle.Verdict {
	v := d.spec()
	if mayHideErrors(resp) && (len(v.signs) > 0 || len(v.judges) > 0) {
		body := look(resp)
		return v.custom(resp, body, v.judgeWithin(resp, body))
	}
	return JudgeStatus(d, resp)
}

// JudgeStatus is Judge for all but answers of 2xx. Those it judges by their
// status alone and doesn't read, so that nothing is held up, except for a
// Custom.Judge, which says when.
func JudgeStatus(d Dialect, resp *http.Response) throttle.Verdict {
	verdict, _ := JudgeUndone(d, resp)
	return verdict
}

// JudgeUndone is JudgeStatus, and reports, too, whether the vendor did nothing
// with the request, so that sending it again can't have it done twice. That is
// so for Busy, and for Overloaded where the vendor's answer says so: it refused
// the request for lack of capacity, or has the model not loaded yet. It never is
// for a status below 400. A plain 503 or 529 says nothing of the kind: a
// Custom.Judge that knows better makes it Busy.
func JudgeUndone(d Dialect, resp *http.Response) (verdict throttle.Verdict, undone bool) {
	v := d.spec()
	switch {
	case resp.StatusCode >= 400:
		body := look(resp)
		verdict, undone = v.judge(&answer{
			status: resp.StatusCode, resp: resp, body: body, facts: factsOf(v, resp.Header, body), now: time.Now(),
		})
		verdict = v.custom(resp, body, verdict)
		return verdict, verdict.Class == throttle.Busy || verdict.Class == throttle.Overloaded && undone
	case len(v.judges) > 0 && isShortJSON(resp):
		body := look(resp)
		return v.custom(resp, body, v.judgeWithin(resp, body)), false
	}
	return v.custom(resp, nil, throttle.Verdict{}), false
}

// custom lets the own functions correct a verdict.
func (v *vendor) custom(resp *http.Response, body []byte, verdict throttle.Verdict) throttle.Verdict {
	for _, judge := range v.judges {
		verdict = judge(resp, body, verdict)
	}
	return verdict
}

// judgeWithin looks for an error in the front of the body of a 2xx.
func (v *vendor) judgeWithin(resp *http.Response, front []byte) throttle.Verdict {
	r := newReading(v, resp)
	_, _ = r.intake(resp.Header.Get("Content-Type")).Write(front)
	r.endText()
	return r.verdict
}

// mayHideErrors reports whether the body can hold an error although the status
// says that all is well.
func mayHideErrors(resp *http.Response) bool {
	if resp.StatusCode/100 != 2 || resp.StatusCode == http.StatusNoContent {
		return false
	}
	contentType := resp.Header.Get("Content-Type")
	return isJSON(contentType) || isStream(contentType)
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
	switch encoding := strings.ToLower(resp.Header.Get("Content-Encoding")); {
	case isPlain(encoding):
		return front
	case isGzip(encoding):
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
