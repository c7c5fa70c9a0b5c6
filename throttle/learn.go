package throttle

import (
	"slices"
	"time"
)

// A budget that learns takes its limits from the vendor's reports: the last
// figure that the vendor gave is the limit, in the window that it named, or a
// minute. Each process learns from its own calls.

// A learning is what a queue has learned, of its limits and of guesses. Nothing of
// it changes but guesses, which are guarded by q.mu.
type learning struct {
	budget  *Budget // as it stands: learned limits included
	born    time.Time
	changes int   // of learned limits, the last ones
	gate    *gate // while it has no limits and is to learn them; nil: open
	guesses estimate
}

// learnLimits brings the budget's limits to what the vendor reports.
func (q *queue) learnLimits(reports []Report) {
	if !q.budget.Learn || !q.learnNow(time.Now()) {
		return
	}
	b := *q.budget
	b.Limits = slices.Clone(b.Limits)
	changed := false
	for _, r := range reports {
		if r.Limit >= 1 && r.Unit < UnitInFlight {
			changed = b.learn(r) || changed
		}
	}
	if changed && len(b.Limits)+len(q.t.cfg.Account)+len(b.Tenants.limits(b.Limits)) <= maxLimits {
		q.t.relimit(q, &b)
	}
}

// A budget changes a few times at once, and then once in learnEvery: a vendor that
// shows now one limit and now another, of two models say, doesn't change it with
// every call.
const (
	learnEvery  = time.Second
	learnAtOnce = 8
)

// learnNow reports whether the budget may change its limits.
func (q *queue) learnNow(now time.Time) bool {
	return q.changes < learnAtOnce || now.Sub(q.born) >= learnEvery
}

// learn takes one report over, and reports whether that changed a limit.
func (b *Budget) learn(r Report) bool {
	amount := min(r.Limit, MaxAmount)
	per := r.Per
	i := slices.IndexFunc(b.Limits, func(l Limit) bool { return l.Unit == r.Unit && (per == 0 || l.Per == per) })
	if i < 0 {
		if per == 0 {
			per = time.Minute
		}
		l := Limit{Unit: r.Unit, Amount: amount, Per: per}
		if l.validate() != nil {
			return false
		}
		b.Limits = append(b.Limits, l)
		return true
	}
	l := &b.Limits[i]
	if l.Amount == amount {
		return false
	}
	if l.Burst != 0 {
		l.Burst = min(l.Burst, amount)
	}
	l.Amount = amount
	return true
}

// relimit puts a queue with other limits in a queue's place, as SetBudgets does.
func (t *Throttle) relimit(q *queue, b *Budget) {
	if !t.replace(q, b) {
		return // the budgets have changed meanwhile
	}
	for _, l := range b.Limits {
		if !slices.Contains(q.budget.Limits, l) {
			t.tellLearned(q, l)
		}
	}
	q.moveOn()
}

// replace puts the new queue into the old one's place, and reports whether that
// was still there.
func (t *Throttle) replace(q *queue, b *Budget) bool {
	t.reconfigure.Lock()
	defer t.reconfigure.Unlock()
	t.mu.Lock()
	q.a.mu.Lock()
	current := q.a.queues[q.id] == q && !t.closed.Load()
	if current {
		q.retired.Store(true)
		next := newQueue(t, q.a, q.id, b)
		if next.changes = q.changes + 1; next.born.Sub(q.born) > time.Minute {
			next.changes = 1
		}
		q.a.queues[q.id] = next
		t.retired = append(t.stillRetired(), q)
	}
	q.a.mu.Unlock()
	t.mu.Unlock()
	if current {
		q.hand(q.a.queue(q.id))
	}
	return current
}
