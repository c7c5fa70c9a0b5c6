package throttle

import (
	"container/list"
	"context"
	"math"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

// An ask is one Acquire on its way through a queue.
type ask struct {
	q     *queue
	place *lanes.Place[*ask]
	call  Call
	id    modelID
	lane  int
	need  []float64 // the cost, by limit of the queue, each tenant's own included
	// Where tenants take turns:
	tenant string // as claims name it; "": none
	row    *row
	inRow  *list.Element

	arrived  time.Time
	deadline time.Time // when waiting has lost its point; zero: never
	byCaller bool      // the deadline is the caller's, not the lane's

	gate     *gate  // that it has passed
	noted    bool   // its lane's demand counts it
	mayProbe bool   // it may become the probe of its refused key
	holds    string // the probe that it already is

	// answers has room for all that a queue ever sends: that it waits, then
	// how it ended.
	answers chan reply
	few     [fewLimits]float64 // need's memory, where that is enough

	// Guarded by q.mu:
	inFlight bool
	gone     bool    // the caller has left
	lacks    lackSet // what it waits for
	last     outcome
	turn     time.Time // when it may be its turn
	since    float64   // the store's time at which it came; 0: not known yet
	age      float64   // how long it had waited when the claim under way was made
}

// A reply is what a queue tells an ask.
type reply struct {
	kind  replyKind
	at    float64 // the store's time of the charge
	key   keyView
	probe string
	local bool // charged to this process alone, in the round of bookings round
	round int
	lease *chunk // it was spent from one
	moved *ask   // what it has become in another queue, or would have
	err   *DeniedError
}

type replyKind uint8

const (
	replyWait replyKind = iota
	replyGo
	replyDenied
	replyMoved
)

// patience is how long the ask will still wait, in microseconds: in a dry run
// not at all.
func (a *ask) patience(now time.Time) float64 {
	if a.q.dry {
		return 0
	}
	return a.untilDeadline(now)
}

// untilDeadline is how long its lane and its caller let it wait, in microseconds.
func (a *ask) untilDeadline(now time.Time) float64 {
	if a.deadline.IsZero() {
		return maxWait
	}
	return float64(max(0, a.deadline.Sub(now).Microseconds()))
}

// setDeadline works out how long the lane and the caller's context allow.
func (a *ask) setDeadline(ctx context.Context, wait time.Duration) {
	switch {
	case wait == 0:
		a.deadline = a.arrived
		return
	case wait > 0:
		a.deadline = a.arrived.Add(wait)
	}
	if d, ok := ctx.Deadline(); ok && (a.deadline.IsZero() || d.Before(a.deadline)) {
		a.deadline, a.byCaller = d, true
	}
}

// sameAge is how far apart, in microseconds, calls may have come that travel
// as one run.
const sameAge = 10_000

// equal reports whether two neighbouring asks can travel as one run.
func (r *run) equal(s *run) bool {
	if r.lane != s.lane || r.tenant != s.tenant || r.key != s.key || r.model != s.model || r.patience != s.patience ||
		r.since != s.since || math.Abs(r.age-s.age) > sameAge ||
		r.mayProbe != s.mayProbe || r.holds != "" || s.holds != "" || r.hold || s.hold {
		return false
	}
	for i, c := range r.cost {
		if c != s.cost[i] {
			return false
		}
	}
	return true
}

// denial starts the error of an ask that isn't let through.
func (a *ask) denial(reason error) *DeniedError {
	return &DeniedError{
		Reason: reason,
		Key:    a.call.Key,
		Model:  a.call.Model,
		Budget: a.q.name,
		Lane:   a.q.t.cfg.Lanes[a.lane].Name,
	}
}

// tooLate is a denial for a wait that is longer than the ask's patience. Where
// the caller's own deadline is what comes too early, it says so.
func (a *ask) tooLate(ctx context.Context, e *DeniedError) *DeniedError {
	if e.Reason != ErrBudget && e.Reason != ErrPaused {
		return e // no wait would help
	}
	d, ok := ctx.Deadline()
	if ok && a.q.t.cfg.Lanes[a.lane].Wait != 0 && !time.Now().Add(e.RetryAfter).Before(d) {
		e.cause = context.DeadlineExceeded
	}
	return e
}
