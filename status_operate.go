package headgate

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

const (
	// longestPause is the longest that the page begins: a slip of the finger
	// isn't to close a budget for years.
	longestPause = 24 * time.Hour
	// longestForm is how many bytes of a form are read.
	longestForm = 4096
	// operateWait bounds how long the store is waited for.
	operateWait = 5 * time.Second
)

// An order is what an operator wants done, and its words.
type order struct {
	done string
	do   func(context.Context, *throttle.Throttle) error
}

// operate does what a form of the page asks for.
func (p *statusPage) operate(w http.ResponseWriter, r *http.Request) {
	if err := p.origin.Check(r); err != nil {
		writeError(w, http.StatusForbidden, "the request comes from another origin")
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, longestForm)
	if err := r.ParseForm(); err != nil {
		writeError(w, http.StatusBadRequest, "the form can't be read")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), operateWait)
	defer cancel()
	s, _ := p.th.Status(ctx) // what is there is known without the store
	o, code, err := orderOf(r, s)
	if err != nil {
		writeError(w, code, err.Error())
		return
	}
	if err := o.do(ctx, p.th); err != nil {
		writeError(w, http.StatusServiceUnavailable, clip(err.Error()))
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"done": o.done})
}

// orderOf reads a form, of the body alone. The status is that of the error.
func orderOf(r *http.Request, s throttle.Status) (order, int, error) {
	action, id := r.PostForm.Get("action"), r.PostForm.Get("id")
	switch action {
	case "probe":
		return probeOrder(id, s)
	case "pause", "resume":
	default:
		return order{}, http.StatusBadRequest, fmt.Errorf("action is %.20q, want pause, resume or probe", action)
	}
	scope, err := scopeOf(r.PostForm.Get("scope"))
	if err != nil {
		return order{}, http.StatusBadRequest, err
	}
	var length time.Duration
	if action == "pause" {
		if length, err = pauseLength(r.PostForm.Get("for")); err != nil {
			return order{}, http.StatusBadRequest, err
		}
	}
	for _, b := range s.Budgets {
		if budgetID(b) != id {
			continue
		}
		if action == "resume" {
			return order{"resumed", func(ctx context.Context, th *throttle.Throttle) error { return th.Resume(ctx, b.Call, scope) }}, 0, nil
		}
		return order{"paused for " + length.String(), func(ctx context.Context, th *throttle.Throttle) error {
			if err := th.Pause(ctx, b.Call, scope, length); err != nil {
				return fmt.Errorf("this process is paused; the others will hear of it once the store is back: %w", err)
			}
			return nil
		}}, 0, nil
	}
	return order{}, http.StatusNotFound, fmt.Errorf("there is no budget %.40q", id)
}

func probeOrder(id string, s throttle.Status) (order, int, error) {
	for _, k := range s.Keys {
		if keyID(k) == id {
			return order{"the next probe may begin now", func(ctx context.Context, th *throttle.Throttle) error { return th.Probe(ctx, k.Call) }}, 0, nil
		}
	}
	return order{}, http.StatusNotFound, fmt.Errorf("no refused key is %.40q", id)
}

func scopeOf(s string) (throttle.Scope, error) {
	for _, scope := range []throttle.Scope{throttle.ScopeModel, throttle.ScopeKey} {
		if scope.String() == s {
			return scope, nil
		}
	}
	return 0, fmt.Errorf("scope is %.20q, want model or key", s)
}

func pauseLength(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > longestPause {
		return 0, fmt.Errorf("for is %.20q, want a duration such as 90s, more than 0 and at most %v", s, longestPause)
	}
	return d, nil
}
