package throttle

import (
	"slices"
	"time"

	"github.com/headgate-go/headgate/leasing"
)

// lease_claim.go is how chunks come: asked for with a claim, and taken over
// from its answer.

// gatherLease asks for units ahead: for the highest lane of which calls travel
// that nobody has judged, or that runs low. What the calls of the claim could
// have spent goes back with it. While notices don't come through nothing is
// asked for: a pause might be missed.
func (q *queue) gatherLease(b *batch) {
	l := q.leases
	if l == nil || q.retired.Load() {
		return
	}
	out := q.leasedElsewhere()
	l.mu.Lock()
	defer l.mu.Unlock()
	for lane := range l.lanes {
		own := &l.lanes[lane]
		asks := b.fresh&(1<<lane) != 0
		if asks {
			q.sealLocked(b, lane)
		} else if own.wants && len(own.chunks) == maxChunks {
			b.giveBack(own.chunks[0]) // calls spend the other: it is as good as empty
			own.chunks = slices.Delete(own.chunks, 0, 1)
		}
		if b.claim.lease == nil && (asks || own.wants) && q.t.store.hears() {
			b.claim.lease = l.ask(lane, b.began, q.t.sharers(), out)
			b.addKeys(own.keys)
		}
		own.wants = false
	}
	l.asked = b.claim.lease
}

// ask is the lease to ask for, beside what others hold of the limits; nil: none.
func (l *leases) ask(lane int, now time.Time, live int, out []float64) *leaseAsk {
	own := &l.lanes[lane]
	cost := own.demand.Mean()
	if len(cost) != len(l.amounts) {
		return nil // nobody has called yet
	}
	l.addOut(out, 0)
	n := l.policy.Calls(own.demand.Calls(now, l.policy.Ahead()), l.amounts, out, cost, live)
	if n < 1 {
		return nil
	}
	return &leaseAsk{lane: lane, n: n, divisor: float64(2 * live), cost: cost}
}

// addOut adds what is leased of the limits from the given one on.
func (l *leases) addOut(out []float64, from int) {
	for lane := range l.lanes {
		for _, c := range l.lanes[lane].chunks {
			c.AddLeft(out, from)
		}
	}
	for i := range out {
		if l.asked != nil {
			out[i] += l.asked.n * l.asked.cost[from+i]
		}
	}
}

// leasedElsewhere is what the account's other queues here have leased, by limit.
// Only a policy that bounds it all wants to know.
func (q *queue) leasedElsewhere() []float64 {
	out := make([]float64, len(q.limits))
	if q.own == len(q.limits) || q.leases.policy.Chunk > 0 {
		return out
	}
	for _, o := range q.a.allQueues() {
		if o != q && o.leases != nil {
			o.leases.mu.Lock()
			o.leases.addOut(out[q.own:], o.own)
			o.leases.mu.Unlock()
		}
	}
	return out
}

// addKeys has the state of the credentials told that may spend the next chunk.
func (b *batch) addKeys(keys []Fingerprint) {
	for _, k := range keys {
		if len(b.claim.keys) < maxLeased {
			b.key(k)
		}
	}
}

// sharers is how many processes share a limit, for all that is known.
func (t *Throttle) sharers() int {
	_, live := t.store.fleet()
	return max(1, live, t.cfg.Instances)
}

// answered notes that the claim under way has come back.
func (l *leases) answered() {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.asked = nil
	}
}

// holdLocked takes over what was leased. A chunk that nobody may spend any
// more goes back: a pause or a refusal was learned that the store didn't know
// of yet, or notices may have been missed.
func (q *queue) holdLocked(b *batch, ans *answer, now time.Time) {
	ask := b.claim.lease
	if ans.leased < 1 || ask == nil {
		return
	}
	c := &chunk{Chunk: leasing.NewChunk(ans.leased, ask.cost, b.began, q.leases.age), of: q.leases, at: ans.now, spenders: q.spendersOf(b, ans)}
	deaf := b.deafs != q.t.deafs.Load() || !q.t.store.hears()
	if deaf || len(c.gens) == 0 || q.pause.left(now) > 0 || q.a.pauseNow().left(now) > 0 || q.t.closed.Load() || q.retired.Load() {
		q.returnLocked(c)
		return
	}
	c.end = time.AfterFunc(max(0, c.Ends().Sub(now)), func() { q.endLease(c) })
	q.leases.mu.Lock()
	defer q.leases.mu.Unlock()
	own := &q.leases.lanes[ask.lane]
	own.chunks = append(own.chunks, c)
	own.keys = c.names()
	// A key that is refused from here on finds the chunk among the others.
	for _, k := range own.keys {
		if q.a.keyNow(k).refused {
			c.forget(k)
		}
	}
}

// forget has nobody spend chunks with a key that was just refused.
func (l *leases) forget(key Fingerprint) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for lane := range l.lanes {
		for _, c := range l.lanes[lane].chunks {
			c.forget(key)
		}
	}
}
