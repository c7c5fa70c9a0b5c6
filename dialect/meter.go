package dialect

import (
	"net/http"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// maxFigure is how much of a scalar a Meter looks at.
const maxFigure = 64

// A Meter reads what a call used from the body of its answer while that
// streams past. It keeps none of the body, and what it needs doesn't grow with
// its length. The methods of a nil Meter do nothing. It isn't safe for
// simultaneous use.
type Meter struct {
	scan   *scanner
	report usageReport
}

// NewMeter returns a meter for the answer's body, nil where there is no usage
// to be read: the dialect knows of none, the answer isn't a 2xx, it is
// compressed, or the request was a GET or HEAD. Only JSON is read so far,
// whatever the Content-Type: of a stream of events, usage is unknown.
func NewMeter(d Dialect, resp *http.Response) *Meter {
	v := d.spec()
	if v.unbuilt || len(v.usage) == 0 || resp.StatusCode/100 != 2 || !mayReport(resp) {
		return nil
	}
	m := &Meter{report: newUsageReport(v.usage)}
	m.scan = newScanner(maxFigure, m.report.visit)
	return m
}

func mayReport(resp *http.Response) bool {
	if r := resp.Request; r != nil && !maySend(r.Method) {
		return false
	}
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
	return m.scan.Write(p)
}

// Usage returns what has been read so far. Requests is 0, and fields that the
// vendor didn't report are negative. known is false where it reported neither
// input nor output that could be read: the estimate should stand then.
func (m *Meter) Usage() (actual throttle.Cost, known bool) {
	if m == nil {
		return throttle.Cost{}, false
	}
	return m.report.cost()
}
