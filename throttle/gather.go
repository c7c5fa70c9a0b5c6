package throttle

import (
	"slices"
	"time"
)

// A batch is a claim and the asks that it carries, in the order of its runs'
// calls.
type batch struct {
	claim claim
	asks  [][]*ask // by claim.runs
	due   bool     // it was made for waiting calls
	began time.Time
	fresh uint64 // the lanes of which calls travel that nobody has judged
	deafs uint64 // how often notices had ceased to come when it was made
	gave  uint64 // how often room had been given back
}

// gather makes the next claim: settlements first, then lane by lane the calls
// that wait, the rest of them as a sum that keeps their place, and those that
// nobody has judged yet. q.mu is held.
func (q *queue) gather(now time.Time) *batch {
	b := &batch{due: q.due, began: now, deafs: q.t.deafs.Load(), claim: q.claimLocked(now)}
	n := min(len(q.settles), settleMax)
	b.claim.settles = q.settles[:n:n]
	q.settles = slices.Clone(q.settles[n:])
	q.pushed = q.pushed && len(q.settles) > 0

	waiting, fresh := peekMax, batchMax
	if q.due {
		waiting = dueMax
	}
	q.due, q.errand, q.news = false, false, [2]string{}
	b.nameTenants()
	if q.turns != nil {
		q.gatherTurns(b, waiting, fresh, now)
	} else {
		for lane := range q.t.cfg.Lanes {
			// The first of each lane goes along in any case: its ticket is renewed.
			waiting -= q.gatherSettled(b, lane, max(1, waiting), now)
			fresh -= q.gatherFresh(b, lane, fresh, now)
		}
	}
	settles := len(b.claim.settles)
	if q.gatherLease(b); len(b.claim.settles) > settles {
		q.a.gives() // to the account's other queues, too
	}
	b.gave = q.a.gave.Load()
	if q.tells {
		for _, k := range q.a.refused() {
			b.key(k)
		}
		q.tells = false
	}
	b.claim.states = q.a.statesOf(b.claim.keys, now)
	return b
}

// claimLocked starts the queue's next claim: who makes it, its number, and what
// is to be said of earlier ones.
func (q *queue) claimLocked(now time.Time) claim {
	q.number++
	q.told = now
	fixes := q.ledger.tell()
	q.ledger.lowers = q.t.outage.stillInUse(q, fixes)
	return claim{
		account: q.a.id, budget: q.id, limits: q.all, own: q.own, perTenant: len(q.all) - len(q.limits),
		every:   microsOf(q.t.cfg.Probe.Every),
		process: q.process, number: q.number,
		fixes: fixes,
		birth: newEpoch(), knows: q.knowsLocked(now), held: q.running, floors: q.takeFloorsLocked(now),
	}
}

// gatherSettled adds up to most waiting calls of a lane, and what the others
// lack as one run that keeps their place.
func (q *queue) gatherSettled(b *batch, lane, most int, now time.Time) int {
	rest := lack{units: slices.Clone(q.lacking[lane].units), pauses: q.lacking[lane].pauses}
	n, more := 0, false
	q.room.EachSettled(lane, func(p *place) bool {
		if n == most {
			more = true
			return false
		}
		rest.add(p.Value, -1)
		b.add(p.Value, now)
		n++
		return true
	})
	if more {
		b.hold(lane, rest)
	}
	return n
}

// hold adds what calls lack that were judged before and only keep their place.
func (b *batch) hold(lane int, l lack) {
	cost := append(slices.Clone(l.units), make([]float64, b.claim.perTenant)...)
	b.claim.runs = append(b.claim.runs, run{lane: lane, hold: true, cost: cost, pauses: l.pauses})
	b.asks = append(b.asks, nil)
}

func (q *queue) gatherFresh(b *batch, lane, most int, now time.Time) int {
	n := 0
	q.room.EachFresh(lane, func(p *place) bool {
		if n == most {
			return false
		}
		if came := p.Value.arrived; b.claim.arrived.IsZero() || came.Before(b.claim.arrived) {
			b.claim.arrived = came
		}
		b.add(p.Value, now)
		b.fresh |= 1 << lane
		n++
		return true
	})
	return n
}

// add puts an ask into the batch, into the last run if it is equal.
func (b *batch) add(a *ask, now time.Time) {
	a.inFlight = true
	r := run{
		lane: a.lane, key: b.key(a.call.Key), model: b.model(a.id), n: 1, cost: a.need,
		patience: a.patience(now), mayProbe: a.mayProbe, holds: a.holds, since: a.since,
	}
	if a.since == 0 {
		a.age = max(0, float64(now.Sub(a.arrived).Microseconds()))
		r.age = a.age
	}
	if a.q.turns != nil {
		r.since, r.age = a.q.turns.sinceOf(a, now)
		if b.claim.perTenant > 0 {
			r.tenant = b.claim.addTenant(a.tenant)
		}
	}
	if r.mayProbe && b.claim.probe == "" {
		b.claim.probe = newProbeID()
	}
	if last := len(b.claim.runs) - 1; last >= 0 && b.claim.runs[last].equal(&r) {
		b.claim.runs[last].n++
		a.age = b.claim.runs[last].age // one ticket is as good as another
		b.asks[last] = append(b.asks[last], a)
		return
	}
	b.claim.runs = append(b.claim.runs, r)
	b.asks = append(b.asks, []*ask{a})
}

// nameTenants has those among the claim's tenants of which it corrects anything.
func (b *batch) nameTenants() {
	for i := range b.claim.settles {
		b.claim.addTenant(b.claim.settles[i].tenant)
	}
	for i := range b.claim.fixes {
		f := &b.claim.fixes[i]
		for j := range f.tenants {
			b.claim.addTenant(f.tenants[j].name)
		}
		for j := range f.settles {
			b.claim.addTenant(f.settles[j].tenant)
		}
	}
}

// older brings the ages of a batch's calls up to now, when it is sent again.
func (q *queue) older(b *batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	by := float64(time.Since(b.began).Microseconds())
	for i := range b.claim.runs {
		if r := &b.claim.runs[i]; !r.hold && r.since == 0 {
			r.age += by
			for _, a := range b.asks[i] {
				a.age += by
			}
		}
	}
}

// key returns the place of a fingerprint among the claim's keys.
func (b *batch) key(k Fingerprint) int {
	if i := slices.Index(b.claim.keys, k); i >= 0 {
		return i
	}
	b.claim.keys = append(b.claim.keys, k)
	return len(b.claim.keys) - 1
}

func (b *batch) model(id modelID) int {
	if i := slices.Index(b.claim.models, id); i >= 0 {
		return i
	}
	b.claim.models = append(b.claim.models, id)
	return len(b.claim.models) - 1
}
