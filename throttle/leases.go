package throttle

import (
	"slices"
	"sync"
	"time"

	"github.com/headgate-go/headgate/leasing"
)

// leases are the units that a queue has claimed ahead, by lane. They are
// charged like any call; while a chunk is trusted, calls of its lane and of
// higher ones spend it without a round trip. What a claim could use goes back
// with it, so that nobody here is refused beside units that lie here.
type leases struct {
	policy  leasing.Policy
	age     time.Duration
	amounts []float64 // by limit

	mu    sync.Mutex
	lanes []leasedLane
	asked *leaseAsk // the claim under way asks for it; nil: for none
}

type leasedLane struct {
	chunks []*chunk // the older first, at most maxChunks
	demand leasing.Demand
	wants  bool          // a chunk is to be claimed, though no call asks
	keys   []Fingerprint // that may spend the last chunk, and are to spend the next
}

// A chunk is one lease and what belongs to its charge.
type chunk struct {
	*leasing.Chunk         // guarded by of.mu
	of             *leases // that it is, or was, among
	at             float64 // the store's time when it was charged
	spenders
	end *time.Timer
}

const (
	maxChunks = 2  // one in use and the next
	maxLeased = 16 // credentials that may spend one
)

// newLeases returns nil where the policy leases nothing of the limits.
func newLeases(p leasing.Policy, limits []spec, lanes int) *leases {
	shortest := 0.0
	l := &leases{policy: p, lanes: make([]leasedLane, lanes)}
	for i := range limits {
		if limits[i].inFlight() {
			return nil // who runs is not known ahead
		}
		if s := &limits[i]; shortest == 0 || s.per < shortest {
			shortest = s.per
		}
		l.amounts = append(l.amounts, limits[i].amount)
	}
	if per := durationOf(shortest); !p.Fits(per) {
		return nil
	} else {
		l.age = p.Age(per)
	}
	return l
}

// spend lets a call go by a lease, if there is one for it.
func (t *Throttle) spend(a *ask) (Permit, bool) {
	l := a.q.leases
	if l == nil || t.closed.Load() || a.q.denies.Load() || a.mayProbe || a.holds != "" || !t.store.hears() {
		return Permit{}, false
	}
	r, low := l.take(a, a.arrived)
	if r.lease == nil {
		return Permit{}, false
	}
	if low {
		a.q.claimAhead()
	}
	return t.admit(a, r), true
}

// claimAhead has the next chunk claimed while the last one is still spent.
func (q *queue) claimAhead() {
	q.mu.Lock()
	q.errand = true
	q.kick()
}

// take spends the call's units of a chunk; the reply has no lease if there was
// none. low is true for one caller only: the next chunk is to be claimed.
func (l *leases) take(a *ask, now time.Time) (r reply, low bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !a.noted {
		a.noted = true
		l.lanes[a.lane].demand.Note(now, a.need)
	}
	c, gen := l.spendLocked(a.lane, a.call.Key, a.need, now)
	if c == nil {
		return reply{}, false
	}
	return reply{kind: replyGo, at: c.at, key: keyView{gen: gen}, lease: c}, l.lowLocked(c, a.lane, now)
}

// spendLocked spends a call's units: of its own lane's chunks first, then of
// those of lower ones. It returns the chunk and the key's generation, or nil.
func (l *leases) spendLocked(lane int, key Fingerprint, need []float64, now time.Time) (*chunk, float64) {
	for ; lane < len(l.lanes); lane++ {
		for _, c := range l.lanes[lane].chunks {
			if gen, known := c.genOf(key); known && c.Spend(now, need) {
				return c, gen
			}
		}
	}
	return nil, 0
}

// covers reports whether a lease would let the call go.
func (l *leases) covers(a *ask) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for lane := a.lane; lane < len(l.lanes); lane++ {
		for _, c := range l.lanes[lane].chunks {
			if _, known := c.genOf(a.call.Key); known && c.Covers(a.arrived, a.need) {
				return true
			}
		}
	}
	return false
}

// lowLocked reports whether a chunk is to be claimed ahead, to one caller only:
// the last one runs low.
func (l *leases) lowLocked(c *chunk, lane int, now time.Time) bool {
	own := &l.lanes[lane]
	if n := len(own.chunks); own.wants || n == 0 || own.chunks[n-1] != c || !c.Low(now, l.age) {
		return false
	}
	own.wants = true
	return true
}

// serveLocked lets calls go that came while the chunk was on its way. Where
// anybody of their own or a higher lane waits they don't pass.
func (q *queue) serveLocked(now time.Time) {
	if q.leases == nil || q.room.Fresh() == 0 || q.denies.Load() || !q.t.store.hears() {
		return
	}
	for lane := range q.t.cfg.Lanes {
		if q.waitsLocked(lane) {
			return
		}
		q.room.EachFresh(lane, func(p *place) bool {
			a := p.Value
			if a.mayProbe || a.holds != "" {
				return true
			}
			r, low := q.leases.take(a, now)
			if r.lease == nil {
				return false
			}
			q.leaveLocked(a)
			a.answers <- r
			q.errand = low || q.errand
			return true
		})
	}
}

// endLease gives back what is left of a chunk whose time has passed.
func (q *queue) endLease(c *chunk) {
	q.mu.Lock()
	q.leases.drop(c)
	q.returnLocked(c)
	q.kick()
}

func (l *leases) drop(c *chunk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for lane := range l.lanes {
		own := &l.lanes[lane]
		own.chunks = slices.DeleteFunc(own.chunks, func(o *chunk) bool { return o == c })
	}
}

// returnLocked queues the return of what is left of a chunk.
func (q *queue) returnLocked(c *chunk) {
	c.of.mu.Lock()
	s, any := c.restLocked()
	c.of.mu.Unlock()
	if any {
		q.addLocked(s, false, 0)
	}
}

// correct changes what a call has taken by delta, and gives calls back. It
// reports whether the chunk still stands; else nothing is changed.
func (c *chunk) correct(delta []float64, calls float64) bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return c.Correct(delta, calls)
}

// restLocked ends a chunk and returns the settlement that gives it back.
func (c *chunk) restLocked() (settlement, bool) {
	if c.end != nil {
		c.end.Stop()
	}
	units, calls, first := c.Seal()
	if !first {
		return settlement{}, false
	}
	s := settlement{at: c.at, calls: max(0, calls), delta: make([]float64, len(units))}
	any := s.calls > 0
	for i, u := range units {
		s.delta[i] = -u
		any = any || u != 0
	}
	return s, any
}

// giveBack returns what is left of a chunk with the claim. The lock of its
// leases is held.
func (b *batch) giveBack(c *chunk) {
	if s, any := c.restLocked(); any {
		b.claim.settles = append(b.claim.settles, s)
	}
}

// sealLocked gives back with the claim what calls of the lane could spend. The
// locks of the queue and its leases are held.
func (q *queue) sealLocked(b *batch, lane int) {
	for ; lane < len(q.leases.lanes); lane++ {
		own := &q.leases.lanes[lane]
		for _, c := range own.chunks {
			b.giveBack(c)
		}
		own.chunks = nil
	}
}

// deaf gives all leases back: the store's notices don't come through, and a
// pause may have begun.
func (t *Throttle) deaf() {
	t.deafs.Add(1)
	for _, q := range t.allQueues() {
		q.mu.Lock()
		q.returnAllLocked()
		q.kick()
	}
}

// returnAllLocked gives everything back: a pause has begun, or the queue ends.
func (q *queue) returnAllLocked() {
	if q.leases == nil {
		return
	}
	q.leases.mu.Lock()
	var all []*chunk
	for lane := range q.leases.lanes {
		all = append(all, q.leases.lanes[lane].chunks...)
		q.leases.lanes[lane].chunks = nil
	}
	q.leases.mu.Unlock()
	for _, c := range all {
		q.returnLocked(c)
	}
}

// leased is how many calls can go in the lane without asking.
func (q *queue) leased(lane int) float64 {
	if q.leases == nil {
		return 0
	}
	q.leases.mu.Lock()
	defer q.leases.mu.Unlock()
	n := 0.0
	for _, c := range q.leases.lanes[lane].chunks {
		n += c.Left()
	}
	return n
}

// any reports whether a chunk is out.
func (l *leases) any() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.lanes, func(own leasedLane) bool { return len(own.chunks) > 0 })
}
