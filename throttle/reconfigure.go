package throttle

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// SetBudgets replaces the budgets while calls go on. What was used so far is
// kept wherever unit, window and algorithm of a limit stay the same, whatever
// its amount becomes; pauses and key state are kept with the budget's name.
// Calls that wait are judged anew at once by the budget that their model has
// now, and keep their place in the order of the fleet. Leases go back. A call
// that is out is settled in the limits that it was charged to.
//
// An error names the field, and leaves everything as it was. Other processes
// are not told: each has its own configuration. While some have the old one,
// each call is held to its own process's limits, over the use of all.
//
// It is safe for concurrent use.
func (t *Throttle) SetBudgets(budgets []Budget) error {
	t.mustBeMade(context.Background(), "SetBudgets")
	c := Config{Budgets: budgets, Account: t.cfg.Account}
	if err := c.validateBudgets(); err != nil {
		return fmt.Errorf("throttle: SetBudgets: %w", err)
	}
	c = c.withDefaults()
	t.reconfigure.Lock()
	defer t.reconfigure.Unlock()
	if t.closed.Load() {
		return ErrClosed
	}
	t.mu.Lock()
	old := t.retireLocked(c.Budgets)
	var queues []*queue
	for _, a := range t.accounts {
		queues = append(queues, a.allQueues()...)
	}
	t.mu.Unlock()
	t.cfg.Logger.Info("headgate: the budgets were changed", "budgets", len(c.Budgets))
	for _, q := range old {
		q.hand(q.a.queue(q.id))
	}
	for _, q := range append(old, queues...) {
		q.moveOn()
	}
	return nil
}

// retireLocked takes over the new budgets, and takes out the queues of those
// that are gone or have changed. They go on ending what was begun in them.
// t.mu is held.
func (t *Throttle) retireLocked(budgets []Budget) []*queue {
	was := t.budgets
	t.budgets = budgets
	t.routes = map[routeKey]route{}
	t.recent.forget()
	t.unmatched = map[string]bool{}
	kept := t.stillRetired()
	var old []*queue
	for _, a := range t.accounts {
		a.mu.Lock()
		for id, q := range a.queues {
			if q.free || !sameBudget(was, budgets, q.name) {
				q.retired.Store(true)
				delete(a.queues, id)
				old = append(old, q)
				if b := budgetNamed(budgets, q.name); b != nil && !q.free && b.PerModel == strings.Contains(id, "\x00") {
					a.queues[id] = newQueue(t, a, id, b)
				}
			}
		}
		a.mu.Unlock()
	}
	t.retired = append(kept, old...)
	return old
}

// hand gives the queue's leases back, and what it knows of pauses, denied models
// and guesses on to the one that takes its place; nil: none does.
func (q *queue) hand(next *queue) {
	q.mu.Lock()
	q.returnAllLocked()
	pause, denied, guesses := q.pause, maps.Clone(q.denied), q.guesses.clone()
	known := q.shadow.clone()
	q.kick()
	q.gate.open()
	if next == nil {
		return
	}
	next.tally.Store(q.tally.Load())
	next.firsts.Store(q.firsts.Load())
	next.mu.Lock()
	defer next.mu.Unlock()
	next.guesses, next.lead = guesses, q.lead
	next.inheritLocked(&known, q.limits)
	if pause.until.After(next.pause.until) {
		next.pause = pause
	}
	for id, d := range denied {
		if d.at.After(next.denied[id].at) {
			next.denied[id] = d
		}
	}
	next.denies.Store(len(next.denied) > 0)
}

// stillRetired are the retired queues of which anything is out. t.mu is held.
func (t *Throttle) stillRetired() []*queue {
	now := time.Now()
	return slices.DeleteFunc(t.retired, func(q *queue) bool { return q.idle(now) })
}

// sameBudget reports whether a budget's own settings are the same in both.
// Which models it is for is another matter: every call is routed anew.
func sameBudget(a, b []Budget, name string) bool {
	x, y := budgetNamed(a, name), budgetNamed(b, name)
	if x == nil || y == nil {
		return false
	}
	x.Models, y.Models = nil, nil
	return reflect.DeepEqual(x, y)
}

// budgetNamed returns a copy of the budget of a name.
func budgetNamed(budgets []Budget, name string) *Budget {
	for _, b := range budgets {
		if b.Name == name {
			return &b
		}
	}
	return nil
}

// moveOn brings the waiting calls that belong elsewhere now to their queues.
// Those that a claim carries come when it has answered.
func (q *queue) moveOn() {
	q.mu.Lock()
	var all []*ask
	q.room.Each(func(p *place) bool {
		if !p.Value.inFlight {
			all = append(all, p.Value)
		}
		return true
	})
	q.mu.Unlock()
	for _, a := range all {
		if to, _ := q.t.queueFor(&a.call); to != q {
			q.move(a, to)
		}
	}
	// Only now, or its answer would move those behind ahead of these.
	q.mu.Lock()
	q.kick()
}

// in is the ask in another queue.
func (a *ask) in(to *queue) *ask {
	b := &ask{
		q: to, call: a.call, id: a.id, lane: a.lane,
		arrived: a.arrived, deadline: a.deadline, byCaller: a.byCaller, since: a.since,
		mayProbe: a.mayProbe, holds: a.holds, gate: a.gate,
	}
	b.takeRow()
	b.need = to.needs(a.call.Cost, b.tenant)
	return b
}

// move brings one waiting call to another queue, where it is a new ask. Who
// waits for the old one is told of it.
func (q *queue) move(a *ask, to *queue) {
	q.mu.Lock()
	if a.inFlight || a.gone || !a.place.In() {
		q.mu.Unlock()
		return // it was decided, or has left
	}
	q.departLocked(a)
	q.mu.Unlock()
	b := a.in(to)
	e := b.tooLarge()
	if e == nil {
		e = to.enter(b)
	}
	if e != nil {
		a.answers <- reply{kind: replyDenied, err: e, moved: b}
		return
	}
	a.answers <- reply{kind: replyMoved, moved: b}
	q.mu.Lock()
	gone := a.gone
	q.mu.Unlock()
	if gone {
		to.abandon(b) // the caller left before it could be told
	}
}
