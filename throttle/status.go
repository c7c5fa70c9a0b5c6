package throttle

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// A Status is what a throttle's process knows: who waits, what is paused, which
// keys are refused, and whether the store is there. Use by limit isn't part of
// it yet.
type Status struct {
	// Waiting is how many calls wait, for a decision or for their turn.
	Waiting int
	// Budgets are those that calls of this process have used, by account and
	// name.
	Budgets []BudgetStatus
	// Keys are those that the vendor refuses, by account and key.
	Keys []KeyStatus
	// Outage is whether the store is out of reach, since when and why.
	Outage bool
	Since  time.Time
	Cause  error
}

// A BudgetStatus is one budget of one account.
type BudgetStatus struct {
	Account string
	Budget  string
	Waiting int
	// Paused is how much is left of the longer of the budget's and the
	// account's pause; 0: neither is paused. Verdict is what began it.
	Paused  time.Duration
	Verdict Verdict
}

// A KeyStatus is a key that the vendor refuses.
type KeyStatus struct {
	Account string
	Key     Fingerprint
	Verdict Verdict
	// NextProbe is how long until somebody may try it again; 0: now.
	NextProbe time.Duration
}

// Status returns what this process knows. It does no I/O, and its error is
// always nil in this version.
func (t *Throttle) Status(context.Context) (Status, error) {
	var s Status
	now := time.Now()
	for _, q := range t.allQueues() {
		b := q.status(now)
		s.Waiting += b.Waiting
		s.Budgets = append(s.Budgets, b)
	}
	slices.SortFunc(s.Budgets, func(a, b BudgetStatus) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Budget, b.Budget))
	})
	s.Keys = t.refusedKeys(now)
	t.outage.mu.Lock()
	defer t.outage.mu.Unlock()
	s.Outage, s.Since, s.Cause = !t.outage.since.IsZero(), t.outage.since, t.outage.cause
	return s, nil
}

func (q *queue) status(now time.Time) BudgetStatus {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := BudgetStatus{Account: q.a.id, Budget: q.name, Waiting: q.room.Len()}
	for _, p := range []shut{q.pause, q.a.pauseNow()} {
		if left := p.left(now); left > b.Paused {
			b.Paused, b.Verdict = left, p.verdict
		}
	}
	return b
}

func (t *Throttle) refusedKeys(now time.Time) []KeyStatus {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var keys []KeyStatus
	for _, a := range t.accounts {
		a.mu.Lock()
		for id, k := range a.keys {
			if k.refused {
				keys = append(keys, KeyStatus{a.id, id, k.verdict, max(0, k.next.Sub(now))})
			}
		}
		a.mu.Unlock()
	}
	slices.SortFunc(keys, func(a, b KeyStatus) int {
		return cmp.Or(cmp.Compare(a.Account, b.Account), cmp.Compare(a.Key, b.Key))
	})
	return keys
}
