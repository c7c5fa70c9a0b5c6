package dialect

import (
	"io"
	"net/http"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// A Meter reads what a call used from the body of its answer while that
// streams past. It keeps none of the body, and what it needs doesn't grow with
// its length. The methods of a nil Meter do nothing. It isn't safe for
// simultaneous use.
type Meter struct {
	in   io.Writer
	read *reading
}

// NewMeter returns a meter for the answer's body, nil where there is nothing
// to be read: the dialect knows neither of usage nor of errors within a 200,
// the answer isn't a 2xx, or it is compressed. A stream of events is known by
// its Content-Type; anything else is read as JSON. Of a GET or HEAD no usage is
// read: what they tell is that of another call.
func NewMeter(d Dialect, resp *http.Response) *Meter {
	v := d.spec()
	if v.unbuilt || len(v.usage)+len(v.signs) == 0 || resp.StatusCode/100 != 2 || !mayReport(resp) {
		return nil
	}
	m := &Meter{read: newReading(v, resp)}
	m.in = m.read.framed(resp.Header.Get("Content-Type"))
	return m
}

func mayReport(resp *http.Response) bool {
	switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
	case "", "identity":
		return true
	}
	return false
}

// Write reads the next piece of the body. It always returns len(p), nil.
func (m *Meter) Write(p []byte) (int, error) {
	if m == nil {
		return len(p), nil
	}
	return m.in.Write(p)
}

// Usage returns what has been read so far. Requests is 0, and fields that the
// vendor didn't report are negative. known is false where it reported neither
// input nor output that could be read: the estimate should stand then.
func (m *Meter) Usage() (actual throttle.Cost, known bool) {
	if m == nil {
		return throttle.Cost{}, false
	}
	return m.read.usage.cost()
}
