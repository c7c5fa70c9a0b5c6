package throttle

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// tell_denied.go logs the first denial of a budget and a reason in a window. A
// denial for a pause, a refused key, a denied model or an outage follows a line
// about that, and gets none of its own.

// deniedQuiet is how long at least no second line is logged about a budget and
// a reason.
const deniedQuiet = time.Minute

// loggedReasons are those for which denials are logged.
var loggedReasons = [...]struct {
	reason error
	word   string
}{
	{ErrBudget, "budget"},
	{ErrTooLarge, "too_large"},
	{ErrQueueFull, "queue_full"},
}

// firsts keeps of one budget of one account, by reason, until when no further
// line is logged, and how many denials there were without one. It goes on when
// the budget is changed. The zero value is ready; it is safe for concurrent use,
// and costs a denial that isn't logged no lock.
type firsts [len(loggedReasons)]struct {
	until  atomic.Pointer[time.Time]
	silent atomic.Int64
}

// tell logs a denial if it is the first. Where the caller called off its wait
// nobody was denied anything.
func (f *firsts) tell(t *Throttle, a *ask, e *DeniedError) {
	if errors.Is(e.cause, context.Canceled) {
		return
	}
	for i := range loggedReasons {
		if !errors.Is(e.Reason, loggedReasons[i].reason) {
			continue
		}
		now, until := time.Now(), f[i].until.Load()
		if until != nil && now.Before(*until) {
			f[i].silent.Add(1)
			return
		}
		next := now.Add(max(deniedQuiet, e.RetryAfter, a.q.windowOf(e.Limit)))
		if !f[i].until.CompareAndSwap(until, &next) {
			f[i].silent.Add(1)
			return
		}
		t.cfg.Logger.Warn("headgate: a call is denied, the first in a while", "account", a.q.a.id, "budget", e.Budget, "model", e.Model,
			"lane", e.Lane, "reason", loggedReasons[i].word, "limit", e.Limit, "retry_after", e.RetryAfter, "since_last", f[i].silent.Swap(0))
		return
	}
}
