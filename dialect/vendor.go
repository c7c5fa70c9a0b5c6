package dialect

import (
	"net/http"

	"github.com/headgate-go/headgate/throttle"
)

// A vendor is a dialect's description: as far as vendors differ in data only,
// data.
type vendor struct {
	name    string
	unbuilt bool

	// Requests.
	key, account, model func(*http.Request) string
	// bodyModel: where model yields none, the model is the JSON body's
	// top-level "model".
	bodyModel   bool
	modelPrefix string // dropped from it
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
	busyScope throttle.Scope // of Busy and Overloaded
	codes     []string       // where error bodies have codes, the telling one first
	messages  []string       // and texts for people
	rules     []rule         // the first that matches decides; none: the status
	judges    []func(*http.Response, []byte, throttle.Verdict) throttle.Verdict
	usage     []usageField
}

// Name returns the dialect's name.
func (v *vendor) Name() string { return v.name }

func (v *vendor) spec() *vendor { return v }
