package dialect

import (
	"net/http"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// A vendor is a dialect's description: as far as vendors differ in data only,
// data.
type vendor struct {
	name string

	// Requests.
	key, account, model func(*http.Request) string
	// bodyKey are fields of the body, JSON or a form, that together are the
	// credential where key yields none, with a colon between them.
	bodyKey []string
	// accountBefore: what comes before it in the credential identifies the
	// account.
	accountBefore string
	// modelAt is the field of a JSON body that has the model where model yields
	// none; forms: of a form, too.
	modelAt     string
	forms       bool
	modelPrefix string // dropped from it
	// setModel returns a path, escaped, with another model in the place where
	// model found one. nil: model doesn't read it from the path.
	setModel func(escaped, model string) string
	// caps are the body's fields that cap the output. Of several the largest
	// counts.
	caps []string
	// choices are the body's fields that say how many answers are asked for.
	choices []string
	// reserves: the vendor charges the cap up front. Otherwise it charges what
	// is really put out, and the cap only bounds the guess.
	reserves bool
	// tokens: the vendor counts tokens, so they are guessed.
	tokens bool
	// inputOnly are parts of paths whose calls put out no tokens.
	inputOnly []string
	costs     []func(*http.Request, throttle.Cost) throttle.Cost

	// Answers.
	busyScope     throttle.Scope // of Busy and Overloaded
	codes         []string       // where error bodies have codes, the telling one first
	figures       []string       // and figures, which aren't shown
	messages      []string       // and texts for people
	codeHeaders   []string       // headers with codes
	figureHeaders []string       // and with figures
	xml           bool           // errors may be XML
	signs         []sign         // of errors within a 200; none: there are no such errors
	unnamed       throttle.Class // of those, where nothing else is known
	// byEndpoint: what is called a model is an endpoint, so that any request
	// can be denied one.
	byEndpoint bool
	rules      []rule // the first that matches decides; none: the status
	// wait finds the wait of a busy vendor where the usual places have none.
	wait   func(*answer) (time.Duration, bool)
	judges []func(*http.Response, []byte, throttle.Verdict) throttle.Verdict
	usage  []usageField
	// shown are the limits that headers show, reports what is read of them where
	// a table can't say it.
	shown   []shown
	reports []func(*http.Response) []throttle.Report
}

// Name returns the dialect's name.
func (v *vendor) Name() string { return v.name }

func (v *vendor) spec() *vendor { return v }
