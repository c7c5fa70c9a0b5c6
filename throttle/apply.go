package throttle

import "time"

// apply hands a claim's outcomes to its asks, and learns what the answer says
// of pauses and keys.
func (q *queue) apply(b *batch, ans answer) {
	now := time.Now()
	q.mu.Lock()
	q.fareLocked(&ans)
	q.hearLocked(b, &ans, now)
	next, went := time.Time{}, 0
	for i, outcomes := range ans.outcomes {
		asks := b.asks[i]
		if q.turns != nil && len(asks) > 0 {
			q.turns.pass(&b.claim.runs[i], ans.now)
		}
		for _, o := range outcomes {
			for _, a := range asks[:o.n] {
				if o.code == granted || o.code == grantedKey {
					went++
				}
				if turn := q.tell(a, o, b, &ans, now); !turn.IsZero() && (next.IsZero() || turn.Before(next)) {
					next = turn
				}
			}
			asks = asks[o.n:]
		}
	}
	if q.turns != nil {
		q.turns.lane = -1
	}
	q.plan(b, next, went)
	for i, outcomes := range ans.outcomes {
		for _, o := range outcomes {
			if o.code == waitsRoom || o.code == waitsPause { // by now it may have left
				q.withdrawLocked(b.claim.runs[i].lane)
			}
		}
	}
	q.mu.Unlock()
	q.learn(b, &ans)
	if w := ans.word; w != nil {
		q.learn(&w.batch, &w.said)
	}
	if q.retired.Load() {
		q.moveOn()
	}
}

// fareLocked takes note of how the claim fared. What follows from it is sent at
// once; a fix is told soon, where neither a settlement nor the end of an outage
// will see to that.
func (q *queue) fareLocked(ans *answer) {
	if follow := q.ledger.fared(ans, len(q.limits)); len(follow) > 0 {
		q.settles = append(q.settles, follow...)
		q.a.gives()
		q.pushed = true
	}
	if ans.unknown != nil && len(q.settles) == 0 && !q.t.outage.down(q.a.id) {
		q.flush.Reset(fixWait)
	}
}

// hearLocked takes note of how the store's records stand.
func (q *queue) hearLocked(b *batch, ans *answer, now time.Time) {
	q.leases.answered()
	if ans.local {
		if ans.word == nil && b.claim.floors != nil && q.floors == nil {
			q.floors, q.flooredAt = b.claim.floors, b.began // they weren't told
		}
		if w := ans.word; w != nil {
			q.shadow.heard(q.limits, &w.claim, &w.said, now)
		}
		return // our tickets there, if any, will be void
	}
	q.seated = false
	for _, outcomes := range ans.outcomes {
		for _, o := range outcomes {
			q.seated = q.seated || o.code == waitsRoom || o.code == waitsPause
		}
	}
	if q.leases != nil {
		q.holdLocked(b, ans, now)
	}
	if q.denies.Load() {
		q.forgetDeniedLocked(now)
	}
	if !q.t.store.immediate() { // a store in memory forgets nothing
		q.shadow.heard(q.limits, &b.claim, ans, now)
	}
}

// plan sets the timer for those who wait on: the first instant that the store
// named. Where waiting calls went and others stand behind them that the claim
// had no place for, it is their turn at once.
func (q *queue) plan(b *batch, next time.Time, went int) {
	waiting := q.room.Len() - q.room.Fresh()
	if q.turns != nil && waiting > 0 {
		if wakes := q.turns.next(b.began); next.IsZero() || !wakes.IsZero() && wakes.Before(next) {
			next = wakes
		}
	}
	switch {
	case waiting == 0:
		q.wake.Stop()
		q.wakeAt = time.Time{}
	case next.IsZero() && (went > 0 || b.due):
		q.due = true
	default:
		q.wakeAtLocked(next)
	}
}

// tell gives an ask its outcome, and returns when its turn will be if it waits.
func (q *queue) tell(a *ask, o outcome, b *batch, ans *answer, now time.Time) time.Time {
	c := &b.claim
	a.inFlight = false
	switch o.code {
	case granted, grantedKey:
		r := reply{kind: replyGo, at: ans.now, key: ans.keyOf(c, a.call.Key), local: ans.local, round: q.ledger.rounds}
		if ans.local {
			q.spendLocked(a.tenant, a.need)
		}
		if q.turns != nil {
			q.turns.went(a, ans, now)
		}
		if o.code == grantedKey {
			if r.probe = a.holds; r.probe == "" {
				r.probe = c.probe
			}
		}
		q.leaveLocked(a)
		q.runLocked(1)
		if a.gone || q.t.closed.Load() {
			q.takeBackLocked(a, r)
			q.closedLocked(a)
			return time.Time{}
		}
		a.answers <- r
		return time.Time{}
	case waitsRoom, waitsPause:
		if a.since == 0 && !ans.local {
			l := &q.lacking[a.lane] // nobody came before those ahead of it
			l.since = min(ans.now, max(l.since, ans.now-a.age))
			if a.since = l.since; q.turns != nil {
				a.since = min(ans.now, q.turns.came)
			}
		}
		if a.gone { // what it left behind is a ticket, and others behind that
			q.due = true
			q.withdrawLocked(a.lane)
			a.lacks = o.lacks
			q.withdrawOwnLocked(a)
			return time.Time{}
		}
		if q.closedLocked(a) {
			return time.Time{}
		}
		return q.park(a, o, now)
	}
	q.leaveLocked(a)
	if !ans.local {
		q.noteEmptyLocked(a, o, b, now)
	}
	if !a.gone {
		a.answers <- reply{kind: replyDenied, err: q.explain(a, o, c, ans), key: ans.keyOf(c, a.call.Key)}
	}
	return time.Time{}
}

// closedLocked turns an ask away if the throttle was closed meanwhile.
func (q *queue) closedLocked(a *ask) bool {
	if !q.t.closed.Load() {
		return false
	}
	q.leaveLocked(a)
	if !a.gone {
		a.answers <- reply{kind: replyDenied, err: a.denial(ErrClosed)}
	}
	return true
}

// park tells an ask to wait, unless the room is full.
func (q *queue) park(a *ask, o outcome, now time.Time) time.Time {
	first := !a.place.Settled()
	a.last, a.turn = o, now.Add(durationOf(o.wait))
	if first && !q.makeRoomLocked(a) {
		q.leaveLocked(a)
		q.withdrawLocked(a.lane)
		a.lacks = o.lacks
		q.withdrawOwnLocked(a)
		e := a.denial(ErrQueueFull)
		e.RetryAfter = durationOf(o.wait)
		a.answers <- reply{kind: replyDenied, err: e}
		return time.Time{}
	}
	q.settleLocked(a, o.lacks)
	if first {
		a.answers <- reply{kind: replyWait}
	}
	return a.turn
}

// takeBackLocked gives back what was granted to a caller who has left.
func (q *queue) takeBackLocked(a *ask, r reply) {
	q.runLocked(-1)
	s := cancelled(r.at, a.need)
	s.tenant = a.tenant
	if r.lease == nil || !r.lease.correct(s.delta, s.calls) {
		q.addLocked(s, r.local, r.round)
	}
}

// cancelled is the settlement that gives a whole charge back.
func cancelled(at float64, need []float64) settlement {
	s := settlement{at: at, calls: 1, delta: make([]float64, len(need))}
	for i, n := range need {
		s.delta[i] = -n
	}
	return s
}

// explain turns a denial's outcome into its error.
func (q *queue) explain(a *ask, o outcome, c *claim, ans *answer) *DeniedError {
	var e *DeniedError
	switch o.code {
	case deniedRoom:
		e = a.denial(ErrBudget)
		if o.limit < len(q.all) {
			e.Limit = q.all[o.limit].text
		}
	case deniedPause:
		e = a.denial(ErrPaused)
		e.Verdict = q.pauseVerdict(ans)
	case deniedKey:
		k := q.a.keyNow(a.call.Key)
		if now := ans.keyOf(c, a.call.Key); !k.refused {
			k.verdict = verdictOf(now.class, ScopeKey, now.next)
		}
		return a.keyDenial(k, durationOf(o.wait))
	case deniedModel:
		e = a.denial(ErrModelDenied)
		e.Verdict = Verdict{Class: ModelDenied, Scope: ScopeModel}
		if d, ok := q.denied[a.id]; ok {
			e.Verdict = d.verdict
		}
	case deniedStore:
		e = a.denial(ErrStore)
	}
	e.timeless = o.code == deniedRoom && q.all[o.limit].inFlight()
	if e.RetryAfter = durationOf(o.wait); o.wait >= maxWait || e.timeless {
		e.RetryAfter = 0 // it doesn't fit, however long one waits; or nobody knows when a call ends
	}
	return e
}

// pauseVerdict is the vendor's answer behind the pause that ends later.
func (q *queue) pauseVerdict(ans *answer) Verdict {
	known, c, scope := q.pause, ans.budget, ScopeModel
	if ans.account.left > c.left {
		known, c, scope = q.a.pauseNow(), ans.account, ScopeKey
	}
	if known.verdict.Class == c.class {
		return known.verdict
	}
	return verdictOf(c.class, scope, c.left)
}

// keyOf returns the state of a key of the claim.
func (ans *answer) keyOf(c *claim, id Fingerprint) keyView {
	for i, k := range c.keys {
		if k == id {
			return ans.keys[i]
		}
	}
	return keyView{}
}

// learn takes over what an answer says of pauses and keys. A claim that was
// under way when an operator ended a pause may not know that.
func (q *queue) learn(b *batch, ans *answer) {
	if ans.local {
		return
	}
	q.mu.Lock()
	resumed := q.pause.resumed
	q.mu.Unlock()
	if c := ans.budget; c.left > 0 && b.began.After(resumed) {
		q.learnPause(c.left, c.ramp, verdictOf(c.class, ScopeModel, c.left))
	}
	if c := ans.account; c.left > 0 && b.began.After(q.a.pauseNow().resumed) {
		q.a.learnPause(c.left, c.ramp, verdictOf(c.class, ScopeKey, c.left))
	}
	for i, k := range ans.keys {
		if k.gen > 0 {
			q.a.learnKey(b.claim.keys[i], k, verdictOf(k.class, ScopeKey, k.next), false)
		}
	}
}
