package throttle

import (
	"time"

	"github.com/headgate-go/headgate/lanes"
)

type place = lanes.Place[*ask]

// enter takes an ask into the queue, or refuses it for what is known here: the
// queue is closed or full, a pause ends too late. A known pause costs no round
// trip, whether the ask waits for its end or not.
func (q *queue) enter(a *ask) *DeniedError {
	now := time.Now()
	q.mu.Lock()
	if q.t.closed.Load() {
		q.mu.Unlock()
		return a.denial(ErrClosed)
	}
	if d, ok := q.denied[a.id]; ok && d.at.After(now) {
		q.mu.Unlock()
		e := a.denial(ErrModelDenied)
		e.Verdict, e.RetryAfter = d.verdict, d.at.Sub(now)
		return e
	}
	if turn, lacks, v := q.pausedUntilLocked(a, q.aheadOfLocked(a), now); lacks != 0 {
		defer q.mu.Unlock()
		return q.enterPausedLocked(a, turn, lacks, v, now)
	}
	if e := q.emptyLocked(a, now); e != nil {
		q.mu.Unlock()
		return e
	}
	q.enterLocked(a)
	q.kick()
	return nil
}

// enterPausedLocked parks an ask until the end of a pause, if that and its
// place in the ramp come in time.
func (q *queue) enterPausedLocked(a *ask, turn time.Time, lacks lackSet, v Verdict, now time.Time) *DeniedError {
	reason := ErrPaused
	if float64(turn.Sub(now).Microseconds()) <= a.patience(now) {
		if q.makeRoomLocked(a) {
			q.enterLocked(a)
			a.last, a.turn = outcome{code: waitsPause, wait: microsOf(turn.Sub(now))}, turn
			// Fresh calls ahead of it in its lane are with the claim under
			// way, but for those beyond a full one: these may come behind it.
			q.settleLocked(a, lacks)
			a.answers <- reply{kind: replyWait}
			q.wakeAtLocked(turn)
			return nil
		}
		reason = ErrQueueFull
	}
	e := a.denial(reason)
	e.Verdict, e.RetryAfter = v, turn.Sub(now)
	return e
}

// aheadOfLocked is how many calls that wait for the budget's and the account's
// pause a new one would stand behind.
func (q *queue) aheadOfLocked(a *ask) (ahead [2]float64) {
	for lane := 0; lane <= a.lane; lane++ {
		for i, n := range q.lacking[lane].pauses {
			ahead[i] += n
		}
	}
	return ahead
}

// pausedUntilLocked says when an ask may leave by the pauses that are known
// here: the later end, and in the ramp after it behind the given number of
// others. It returns an empty set where nothing is paused.
func (q *queue) pausedUntilLocked(a *ask, ahead [2]float64, now time.Time) (turn time.Time, lacks lackSet, v Verdict) {
	if a.holds != "" {
		return // the store knows best about a probe
	}
	rate := q.rateOf(a)
	for i, s := range []shut{q.pause, q.a.pauseNow()} {
		if s.left(now) == 0 {
			continue
		}
		lacks |= lacksBudget << i
		end := s.until.Add(durationOf(min(s.ramp, rampOffset(s.ramp, rate, ahead[i]))))
		if end.After(turn) {
			turn, v = end, s.verdict
		}
	}
	return turn, lacks, v
}

// rateOf is how many calls like the ask the limits let through in a
// microsecond; 0: they have no limit.
func (q *queue) rateOf(a *ask) float64 {
	b := bench{c: &claim{limits: q.limits}}
	return b.rate(&run{cost: a.need})
}

// learnPause takes over what is known of the budget's pause.
func (q *queue) learnPause(left, ramp float64, v Verdict) {
	now := time.Now()
	q.mu.Lock()
	grew := q.pause.grow(now, left, ramp, v)
	q.mu.Unlock()
	if grew {
		q.t.outage.paused(q.a, q.id, left, ramp, v.Class)
		q.t.tellPaused(q.a, q.name, durationOf(left), v)
		q.reconsider()
	}
}

// reconsider turns away the waiting calls for which a pause that was just
// learned ends too late, and moves the timer of the others behind its end.
func (q *queue) reconsider() {
	q.gate.tell()
	now := time.Now()
	q.mu.Lock()
	defer q.kick()
	q.returnAllLocked() // leases don't outlive the beginning of a pause
	var next time.Time
	var ahead [2]float64
	q.eachWaitingLocked(func(a *ask) {
		turn, lacks, v := q.pausedUntilLocked(a, ahead, now)
		if lacks == 0 || a.inFlight {
			return
		}
		if float64(turn.Sub(now).Microseconds()) > a.patience(now) {
			q.leaveLocked(a) // nobody behind it goes before the pause ends
			q.withdrawLocked(a.lane)
			q.withdrawOwnLocked(a)
			e := a.denial(ErrPaused)
			e.Verdict, e.RetryAfter = v, turn.Sub(now)
			a.answers <- reply{kind: replyDenied, err: e}
			return
		}
		ahead[0], ahead[1] = ahead[0]+1, ahead[1]+1
		q.settleLocked(a, lacks)
		a.last, a.turn = outcome{code: waitsPause}, turn
		if next.IsZero() || turn.Before(next) {
			next = turn
		}
	})
	if !next.IsZero() {
		q.wakeAt = time.Time{}
		q.wakeAtLocked(next)
	}
}

func (q *queue) eachWaitingLocked(f func(*ask)) {
	q.room.Each(func(p *place) bool {
		if p.Settled() {
			f(p.Value)
		}
		return true
	})
}

// turnAway refuses the waiting calls of a key that was just refused.
func (q *queue) turnAway(id Fingerprint) {
	k := q.a.keyNow(id)
	q.gate.tell()
	q.leases.forget(id)
	q.mu.Lock()
	q.eachWaitingLocked(func(a *ask) {
		if a.call.Key == id && !a.inFlight {
			q.departLocked(a)
			a.answers <- reply{kind: replyDenied, err: a.keyDenial(k, time.Until(k.next))}
		}
	})
	q.kick()
}

// learnDenied takes over that a model is denied.
func (q *queue) learnDenied(id modelID, left time.Duration, v Verdict) {
	now := time.Now()
	q.mu.Lock()
	if at := now.Add(left); at.After(q.denied[id].at) {
		q.denied[id] = deniedUntil{at: at, verdict: v}
	}
	q.forgetDeniedLocked(now)
	q.eachWaitingLocked(func(a *ask) {
		if a.id == id && !a.inFlight {
			q.departLocked(a)
			e := a.denial(ErrModelDenied)
			e.Verdict, e.RetryAfter = v, left
			a.answers <- reply{kind: replyDenied, err: e}
		}
	})
	q.kick()
}

// forgetDeniedLocked drops the models that are denied no longer.
func (q *queue) forgetDeniedLocked(now time.Time) {
	for id, d := range q.denied {
		if !d.at.After(now) {
			delete(q.denied, id)
		}
	}
	q.denies.Store(len(q.denied) > 0)
}

// giveUp takes out an ask whose patience has run out, and reports whether it
// was still there: while a claim carries it, the claim decides.
func (q *queue) giveUp(a *ask) (*DeniedError, bool) {
	q.mu.Lock()
	if a.inFlight || !a.place.Settled() {
		q.mu.Unlock()
		return nil, false
	}
	q.departLocked(a)
	e := q.waitedFor(a)
	q.kick()
	return e, true
}

// abandon takes out an ask whose caller has left. What a claim under way
// grants it, or has granted it, is given back.
func (q *queue) abandon(a *ask) *DeniedError {
	q.mu.Lock()
	e := q.waitedFor(a)
	q.departLocked(a)
	a.gone = true
	var moved *ask
	for len(a.answers) > 0 && !a.inFlight {
		switch r := <-a.answers; r.kind {
		case replyGo:
			q.takeBackLocked(a, r)
		case replyMoved:
			moved = r.moved
		}
	}
	q.kick()
	if moved != nil {
		return moved.q.abandon(moved)
	}
	return e
}

// waitedFor is the denial of an ask that waited in vain.
func (q *queue) waitedFor(a *ask) *DeniedError {
	e := a.denial(ErrBudget)
	switch {
	case a.last.code == waitsPause:
		e.Reason = ErrPaused
		e.Verdict = q.pause.verdict
		if p := q.a.pauseNow(); p.until.After(q.pause.until) {
			e.Verdict = p.verdict
		}
	case a.lacks != 0:
		e.Limit = q.all[a.last.limit].text
	}
	if !a.turn.IsZero() {
		e.RetryAfter = max(0, time.Until(a.turn))
	}
	return e
}
