package dialect

import (
	"net/http"
	"slices"

	"github.com/headgate-go/headgate/throttle"
)

// A Dialect is how one vendor's API is spoken: where its requests carry the
// credential and the model, what they will cost, what its answers mean. Use
// one of this package's, or New for one's own. A Dialect is immutable and safe
// for simultaneous use.
type Dialect interface {
	// Name returns the dialect's name, such as "openai".
	Name() string

	spec() *vendor // seals the interface
}

// A Custom says what an own dialect does differently from its base. A nil
// function leaves it to the base. The functions are called from several
// goroutines at once, must not change what they are given, and what they panic
// with isn't recovered.
type Custom struct {
	// Key returns the credential, of which only a fingerprint goes on. "":
	// there is none; scheme and host identify the caller then.
	Key func(*http.Request) string
	// Account returns who pays, "" for the key itself.
	Account func(*http.Request) string
	// Model returns the model, "" for none. Where it is set, the body isn't
	// searched for one. It must not read the body.
	Model func(*http.Request) string
	// Cost returns the estimate, given the base's. A field that it leaves
	// alone stays what it was, a guess for example; one that it changes counts
	// as stated: it isn't clamped to what the budget can hold. It must not
	// read the body.
	Cost func(*http.Request, throttle.Cost) throttle.Cost
	// Judge returns what an answer means, given the base's verdict and the
	// front of the body, decompressed, at most 64 KiB. The body is there for
	// answers of 400 and above, and for a 2xx that announces itself as JSON or
	// a stream of it; where nothing may be held up (JudgeStatus, which is what
	// a transport asks), only for a 2xx that announces itself as JSON and says
	// in its Content-Length that it is no longer than that. Else it is nil, and
	// what a Meter finds isn't shown to Judge. Judge must not touch the response's own Body, and must put no
	// credential into Detail.
	Judge func(*http.Response, []byte, throttle.Verdict) throttle.Verdict
	// Reports returns what an answer's header says of limits, beside what the
	// base reads there; of two reports for one unit and window the stricter
	// figures stand. In a Report, Remaining 0 means that nothing is left:
	// what isn't said is throttle.Unsaid, and Remaining counts only where Per
	// is set. Reports must not touch the response's Body.
	Reports func(*http.Response) []throttle.Report
}

// New returns a dialect that is base, except for what c says. A nil base is
// Generic.
func New(name string, base Dialect, c Custom) Dialect {
	if base == nil {
		base = Generic
	}
	v := *base.spec()
	v.name = name
	if c.Key != nil {
		v.key, v.bodyKey, v.accountBefore = c.Key, nil, ""
	}
	if c.Account != nil {
		v.account = c.Account
	}
	if c.Model != nil {
		v.model, v.modelAt, v.setModel = c.Model, "", nil
	}
	if c.Cost != nil {
		v.costs = append(slices.Clip(v.costs), c.Cost)
	}
	if c.Judge != nil {
		v.judges = append(slices.Clip(v.judges), c.Judge)
	}
	if c.Reports != nil {
		v.reports = append(slices.Clip(v.reports), c.Reports)
	}
	return &v
}
