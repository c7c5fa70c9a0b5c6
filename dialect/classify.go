package dialect

import (
	"net/http"
	"time"

	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// An answer is what is known of an error when it is judged.
type answer struct {
	status int            // for an error within a 200 the one it names, 0 for none
	within bool           // it is an error within a 200
	resp   *http.Response // for header and request, never for the body
	body   []byte         // nil for an error within a 200
	facts  *facts
	now    time.Time
}

// judge is the vendor's own verdict, before any Custom, and whether the vendor
// says that it did nothing with the request although it isn't just busy.
func (v *vendor) judge(a *answer) (verdict throttle.Verdict, undone bool) {
	means := v.classify(a)
	class := means.class
	verdict = throttle.Verdict{Class: class, Scope: v.scopeOf(class, means.about), Wait: v.waitOf(class, a), Detail: v.detail(a)}
	if verdict.Wait == 0 {
		verdict.Wait = means.wait
	}
	return verdict, means.undone
}

// classify returns the rule that decides, or one for what the status means.
func (v *vendor) classify(a *answer) rule {
	means := rule{class: plainMeaning(a.status)}
	if means.class == throttle.OK {
		means.class = v.unnamed
	}
	for i := range v.rules {
		if r := &v.rules[i]; r.matches(a) {
			means = *r
			break
		}
	}
	if means.class == throttle.ModelDenied && !v.byEndpoint && asksForNoModel(a.resp.Request) {
		return rule{class: throttle.BadRequest} // a file or a job doesn't exist
	}
	return means
}

// asksForNoModel reports whether an answer can't be about a model, because the
// request is of a kind that uses none.
func asksForNoModel(r *http.Request) bool {
	return r != nil && (!maySend(r.Method) || r.Method == http.MethodDelete)
}

func (v *vendor) scopeOf(class throttle.Class, about subject) throttle.Scope {
	switch about {
	case theRequest:
		return throttle.ScopeNone
	case theModel:
		return throttle.ScopeModel
	case theKey:
		return throttle.ScopeKey
	}
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
func (v *vendor) waitOf(class throttle.Class, a *answer) time.Duration {
	if class != throttle.Busy && class != throttle.Overloaded && class != throttle.KeyRefused && class != throttle.CreditExhausted {
		return 0
	}
	d, ok := time.Duration(0), false
	if !a.within { // the header came when all was well
		d, ok = pause.FromHeaders(a.resp.Header, a.now)
	}
	if ok || class == throttle.KeyRefused || class == throttle.CreditExhausted {
		return d
	}
	if d, ok = waitInBody(a); !ok && v.wait != nil {
		d, _ = v.wait(a)
	}
	return d
}

// waitInBody looks for a wait in the fields of a body, in its texts for
// people, and in all of it where those aren't found.
func waitInBody(a *answer) (time.Duration, bool) {
	if d, ok := pause.FromJSON(a.body, a.now); ok {
		return d, true
	}
	if len(a.facts.messages) == 0 {
		return pause.FromText(string(a.body))
	}
	for _, message := range a.facts.messages {
		if d, ok := pause.FromText(a.facts.textOf(message)); ok {
			return d, true
		}
	}
	return 0, false
}
