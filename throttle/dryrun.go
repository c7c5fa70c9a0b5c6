package throttle

import (
	"sync"
	"time"
)

// dryrun.go lets calls go that enforcement would deny or delay. The decision is
// the same in every part, of a call that may not wait: what goes is charged as
// always. What doesn't is counted here, told, and sent with a permit that holds
// nothing.

// refuse ends an ask that isn't let through: with its denial or, in a dry run,
// with leave to go all the same. gen is the generation of its key as the store
// last said it, 0 where it wasn't asked.
func (t *Throttle) refuse(a *ask, e *DeniedError, gen float64) (Permit, error) {
	if !a.q.dry || e.Reason == ErrClosed {
		return Permit{}, t.deny(a, e)
	}
	if a.row != nil {
		a.row.denied.Add(1)
	}
	waits := a.wouldWait(e)
	a.q.tally.Load().note(t, a, e, waits)
	kind := EventDenied
	if waits {
		kind = EventAdmitted
	}
	t.observe(Event{
		Kind: kind, DryRun: true, Key: e.Key, Account: a.call.Account, Model: e.Model, Budget: e.Budget,
		Lane: e.Lane, Wait: e.RetryAfter, Verdict: e.Verdict, Err: e,
	})
	return newPermit(permitInfo{
		q: a.q, key: a.call.Key, model: a.call.Model, id: a.id,
		keyAt: max(gen, a.q.a.keyNow(a.call.Key).gen), uncounted: true,
	}), nil
}

// wouldWait reports whether enforcement would have the call wait, where it
// denies one that may not.
func (a *ask) wouldWait(e *DeniedError) bool {
	if e.Reason != ErrBudget && e.Reason != ErrPaused {
		return false
	}
	left := a.untilDeadline(time.Now())
	if e.timeless {
		return left > 0
	}
	return e.RetryAfter > 0 && float64(e.RetryAfter.Microseconds()) <= left
}

// A tally counts what a dry run lets go, of one budget of one account. It goes
// on when the budget is changed. It is safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	denied [len(codes)]int64
	waited [len(codes)]int64
	logged firsts
}

// note counts a call, and logs the first denial of its budget and reason.
func (c *tally) note(t *Throttle, a *ask, e *DeniedError, waits bool) {
	i := e.place()
	c.mu.Lock()
	if waits {
		c.waited[i]++
	} else {
		c.denied[i]++
	}
	c.mu.Unlock()
	if waits {
		return
	}
	if more, first := c.logged.due(a.q, e); first {
		t.cfg.Logger.Warn("headgate: dry run: a call goes that would have been denied", "account", a.q.a.id, "budget", e.Budget,
			"model", e.Model, "lane", e.Lane, "reason", e.Code(), "limit", e.Limit, "retry_after", e.RetryAfter, "since_last", more)
	}
}

// windowOf is the window of the limit of that text; 0: it has none.
func (q *queue) windowOf(text string) time.Duration {
	for i := range q.all {
		if q.all[i].text == text {
			return durationOf(q.all[i].per)
		}
	}
	return 0
}

// status says how many calls went, by reason: that would have been denied, and
// that would have waited.
func (c *tally) status() (denied, waited map[string]int64) {
	denied, waited = map[string]int64{}, map[string]int64{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, r := range codes {
		if c.denied[i] > 0 {
			denied[r.code] = c.denied[i]
		}
		if c.waited[i] > 0 {
			waited[r.code] = c.waited[i]
		}
	}
	return denied, waited
}
