package dialect

import (
	"io"
	"net/http"
	"runtime"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// A Meter reads what a call used, and whether it was refused after all, from
// the body of its answer while that streams past. It keeps none of the body,
// and what it needs doesn't grow with its length. The methods of a nil Meter do
// nothing. It isn't safe for simultaneous use.
//
// Whoever makes a Meter calls Usage at the end, which ends it.
type Meter struct {
	in   io.Writer
	read *reading
	zip  *unzipper // nil: the body isn't compressed, or the Meter has ended
	kept runtime.Cleanup
	done bool // the body told that it was at its end
}

// NewMeter returns a meter for the answer's body, nil where there is nothing
// to be read: the dialect knows neither of usage nor of errors within a 200,
// the answer isn't a 2xx, or it is compressed in another way than gzip.
//
// The body is read by its Content-Type: as server-sent events, as JSON with a
// text to a line, as an AWS event stream, and anything else as JSON. Of a GET
// or HEAD no usage is read: what they tell is that of another call.
func NewMeter(d Dialect, resp *http.Response) *Meter {
	v := d.spec()
	if len(v.usage)+len(v.signs) == 0 || resp.StatusCode/100 != 2 {
		return nil
	}
	encoding := strings.ToLower(resp.Header.Get("Content-Encoding"))
	if !isPlain(encoding) && !isGzip(encoding) {
		return nil
	}
	m := &Meter{read: newReading(v, resp)}
	m.in = m.read.intake(resp.Header.Get("Content-Type"))
	if isGzip(encoding) {
		m.zip = newUnzipper(m.in)
		m.in = m.zip
		// A Meter that is forgotten leaves no goroutine behind.
		m.kept = runtime.AddCleanup(m, (*unzipper).stop, m.zip)
	}
	return m
}

func isPlain(encoding string) bool { return encoding == "" || encoding == "identity" }
func isGzip(encoding string) bool  { return encoding == "gzip" || encoding == "x-gzip" }

// Write reads the next piece of the body. It always returns len(p), nil, and
// keeps no hold of p. It allocates nothing, except for what compress/gzip
// allocates for a block.
func (m *Meter) Write(p []byte) (int, error) {
	if m == nil {
		return len(p), nil
	}
	return m.in.Write(p)
}

// Verdict returns what the first error in the body means, and whether there
// has been one: an event that says "overloaded", a chunk with an error, a text
// with the vendor's own sign of failure. It becomes true during the Write that
// completes the error, or with Usage if the body ends in the middle of it, and
// doesn't change after that. Asking costs nothing.
//
// A Custom.Judge isn't asked: it wants the body, and a Meter has none.
func (m *Meter) Verdict() (throttle.Verdict, bool) {
	if m == nil {
		return throttle.Verdict{}, false
	}
	return m.read.verdict, m.read.judged
}

// Usage ends the Meter, so that nothing is read any more, and returns what the
// body has told. Requests is 0, and fields that the vendor didn't report are
// negative. known is false where it reported nothing that could be read: the
// estimate should stand then.
func (m *Meter) Usage() (actual throttle.Cost, known bool) {
	if m == nil {
		return throttle.Cost{}, false
	}
	m.end()
	return m.read.usage.cost()
}

// Complete reports, after Usage, whether the body came to its own end, as JSON
// or as a stream of events that said "[DONE]": a caller that decodes either may
// close it without having read the end of the file. Of other streams only their
// end tells.
func (m *Meter) Complete() bool { return m != nil && m.done }

func (m *Meter) end() {
	if m.zip != nil {
		m.kept.Stop()
		m.zip.stop()
		m.zip = nil
	}
	m.in = io.Discard
	m.done = m.read.finished || !m.read.framed && m.read.scan.between()
	m.read.endText()
}
