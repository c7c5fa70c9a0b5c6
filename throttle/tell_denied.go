package throttle

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// tell_denied.go logs the first denial of a budget and a reason in a window. A
// denial for a pause, a refused key, a denied model or an outage follows a line
// about that, and gets none of its own, but in a dry run.

// deniedQuiet is how long at least no second line is logged about a budget and
// a reason.
const deniedQuiet = time.Minute

// firsts keeps of one budget of one account, by reason, until when no further
// line is logged, and how many denials there were without one. It goes on when
// the budget is changed. The zero value is ready; it is safe for concurrent use,
// and costs a denial that isn't logged no lock.
type firsts [len(codes)]struct {
	until  atomic.Pointer[time.Time]
	silent atomic.Int64
}

// due reports whether a denial is to be logged: it is the first of its reason in
// the limit's window, or while the pause or the refusal behind it lasts. more is
// how many there have been since the last line.
func (f *firsts) due(q *queue, e *DeniedError) (more int64, first bool) {
	i := e.place()
	if i < 0 {
		return 0, false
	}
	now, until := time.Now(), f[i].until.Load()
	if until == nil || !now.Before(*until) {
		next := now.Add(max(deniedQuiet, e.RetryAfter, q.windowOf(e.Limit)))
		if f[i].until.CompareAndSwap(until, &next) {
			return f[i].silent.Swap(0), true
		}
	}
	f[i].silent.Add(1)
	return 0, false
}

// tellDenied logs a denial if it is the first. Where the caller called off its
// wait nobody was denied anything.
func (t *Throttle) tellDenied(a *ask, e *DeniedError) {
	switch {
	case errors.Is(e.cause, context.Canceled):
		return
	case e.Reason != ErrBudget && e.Reason != ErrTooLarge && e.Reason != ErrQueueFull:
		return
	}
	if more, first := a.q.firsts.Load().due(a.q, e); first {
		t.cfg.Logger.Warn("headgate: a call is denied, the first in a while", "account", a.q.a.id, "budget", e.Budget, "model", e.Model,
			"lane", e.Lane, "reason", e.Code(), "limit", e.Limit, "retry_after", e.RetryAfter, "since_last", more)
	}
}
