package throttle

import (
	"context"
	"fmt"
	"time"
)

// operatorsPause is the Detail of a pause that an operator began, in the process
// in which that was.
const operatorsPause = "an operator's pause"

// Pause closes the budget of the call's model for d (ScopeModel), or the whole
// account of its key (ScopeKey), in every process of the fleet, as a vendor's
// word would: a pause that ends later stands, waiting calls wait for its end as
// their lanes allow, and a ramp follows. It isn't bounded by pause.Policy.Max.
// Of the call only Key, Account and Model are used.
//
// The pause holds in this process when Pause returns. An error says that the
// store is out of reach: the others learn of it when that is back.
func (t *Throttle) Pause(ctx context.Context, call Call, scope Scope, d time.Duration) error {
	t.mustBeMade(ctx, "Pause")
	if d <= 0 {
		return fmt.Errorf("%w: a pause of %v, want more than 0", ErrInvalidCall, d)
	}
	v := Verdict{Class: Busy, Scope: scope, Wait: d, Detail: operatorsPause}
	note := verdictNote{class: v.Class, scope: scope, length: microsOf(d), ramp: microsOf(t.cfg.Pause.RampFor(d))}
	q, err := t.operated(ctx, call, scope)
	if err != nil {
		return err
	}
	if scope == ScopeModel {
		q.learnPause(note.length, note.ramp, v)
	} else {
		q.a.learnPause(note.length, note.ramp, v)
	}
	_, err = t.write(q.noteClaim(call.Key, note))
	return err
}

// Resume ends a pause of the budget of the call's model (ScopeModel), or of the
// whole account of its key (ScopeKey), in every process of the fleet, whoever
// began it. Its ramp begins at once. Nothing happens where nothing is paused.
//
// An error says that the store is out of reach: nothing has changed.
func (t *Throttle) Resume(ctx context.Context, call Call, scope Scope) error {
	t.mustBeMade(ctx, "Resume")
	q, err := t.operated(ctx, call, scope)
	if err != nil {
		return err
	}
	c := q.noteClaim(call.Key, verdictNote{scope: scope, resume: true})
	if _, err := t.orderNow(ctx, &c); err != nil {
		return err
	}
	t.cfg.Logger.Info("headgate: an operator has ended a pause", "account", q.a.id, "budget", q.name, "scope", scope.String())
	if scope == ScopeModel {
		q.resumed()
	} else {
		q.a.resumed()
	}
	return nil
}

// orderNow brings an operator's word to the store, which is not kept for later
// where that is out of reach.
func (t *Throttle) orderNow(ctx context.Context, c *claim) (answer, error) {
	if t.outage.down(c.account) {
		return answer{}, ErrStore
	}
	ctx, cancel := context.WithTimeout(ctx, verdictWait)
	defer cancel()
	ans, err := t.store.claim(ctx, c)
	if err != nil {
		t.outage.failed(c.account, err)
		return answer{}, fmt.Errorf("%w: %w", ErrStore, err)
	}
	return ans, nil
}

// operated returns the queue of a call that an operator means.
func (t *Throttle) operated(ctx context.Context, call Call, scope Scope) (*queue, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if scope != ScopeModel && scope != ScopeKey {
		return nil, fmt.Errorf("%w: scope is %v, want model or key", ErrInvalidCall, scope)
	}
	q, _ := t.queueFor(&call)
	return q, nil
}

// noteClaim is a claim that only writes a verdict.
func (q *queue) noteClaim(key Fingerprint, note verdictNote) claim {
	return claim{
		account: q.a.id, budget: q.id, limits: q.limits, own: q.own,
		every: microsOf(q.t.cfg.Probe.Every), birth: newEpoch(),
		keys: []Fingerprint{key}, models: []modelID{""}, verdict: &note,
	}
}

// resumed ends the pause that is known of the account.
func (a *account) resumed() {
	now := time.Now()
	a.mu.Lock()
	left := a.pause.left(now)
	a.pause.resume(now)
	queues := a.queuesLocked()
	a.mu.Unlock()
	a.t.outage.resumed(a, "")
	if left > 0 {
		a.t.tellResumed(a, "", left)
	}
	for _, q := range queues {
		q.roomGiven()
	}
}

// resumed ends the pause that is known of the budget.
func (q *queue) resumed() {
	now := time.Now()
	q.mu.Lock()
	left := q.pause.left(now)
	q.pause.resume(now)
	q.mu.Unlock()
	q.t.outage.resumed(q.a, q.id)
	if left > 0 {
		q.t.tellResumed(q.a, q.name, left)
	}
	q.roomGiven()
}
