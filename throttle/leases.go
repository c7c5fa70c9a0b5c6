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
}

type leasedLane struct {
	chunks []*chunk // the older first, at most maxChunks
	demand leasing.Demand
	wants  bool // a chunk is to be claimed, though no call asks
}

// A chunk is one lease and what belongs to its charge.
type chunk struct {
	*leasing.Chunk
	at   float64 // the store's time when it was charged
	keys map[Fingerprint]float64
	end  *time.Timer
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
	c := l.take(a, a.arrived)
	if c == nil {
		return Permit{}, false
	}
	if l.low(c, a.lane, a.arrived) {
		a.q.mu.Lock()
		a.q.errand = true
		a.q.kick()
	}
	return t.admit(a, c.reply(a)), true
}

func (c *chunk) reply(a *ask) reply {
	return reply{kind: replyGo, at: c.at, key: keyView{gen: c.keys[a.call.Key]}, lease: c}
}

// take spends the call's units of a chunk: its own lane's first, then those of
// lower ones.
func (l *leases) take(a *ask, now time.Time) *chunk {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !a.noted {
		a.noted = true
		l.lanes[a.lane].demand.Note(now, a.need)
	}
	for lane := a.lane; lane < len(l.lanes); lane++ {
		for _, c := range l.lanes[lane].chunks {
			if _, known := c.keys[a.call.Key]; known && c.Spend(now, a.need) {
				return c
			}
		}
	}
	return nil
}

// covers reports whether a lease would let the call go.
func (l *leases) covers(a *ask) bool {
	if l == nil {
		return false
	}
	c := l.take(a, a.arrived)
	if c == nil {
		return false
	}
	back := make([]float64, len(a.need))
	for i, n := range a.need {
		back[i] = -n
	}
	return c.Correct(back, 1)
}

// low reports whether a chunk is to be claimed ahead, to one caller only.
func (l *leases) low(c *chunk, lane int, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := &l.lanes[lane]
	if own.wants || len(own.chunks) == maxChunks || !slices.Contains(own.chunks, c) || !c.Low(now, l.age) {
		return false
	}
	own.wants = true
	return true
}

// serveLocked lets calls go that came while the chunk was on its way. Where
// anybody of their own or a higher lane waits they don't pass.
func (q *queue) serveLocked(now time.Time) {
	if q.leases == nil || q.room.Fresh() == 0 || !q.t.store.hears() {
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
			c := q.leases.take(a, now)
			if c != nil {
				q.leaveLocked(a)
				a.answers <- c.reply(a)
				q.errand = q.leases.low(c, lane, now) || q.errand
			}
			return c != nil
		})
	}
}

// gatherLease asks for units ahead: for the highest lane of which calls travel
// that nobody has judged, or that runs low. What the calls of the claim could
// have spent goes back with it.
func (q *queue) gatherLease(b *batch) {
	l := q.leases
	if l == nil || q.retired.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for lane := range l.lanes {
		asks := b.fresh&(1<<lane) != 0
		if asks {
			q.sealLocked(b, lane)
		}
		own := &l.lanes[lane]
		if b.claim.lease == nil && (asks || own.wants) {
			b.claim.lease = l.ask(lane, b.began, q.t.sharers())
			q.addKeys(b, own)
		}
		own.wants = false
	}
}

// ask is the lease to ask for; nil: none.
func (l *leases) ask(lane int, now time.Time, live int) *leaseAsk {
	own := &l.lanes[lane]
	cost := own.demand.Mean()
	if len(cost) != len(l.amounts) {
		return nil // nobody has called yet
	}
	n := l.policy.Calls(own.demand.Calls(now, l.policy.Ahead()), l.amounts, cost, live)
	if n < 1 {
		return nil
	}
	return &leaseAsk{lane: lane, n: n, divisor: float64(2 * live), cost: cost}
}

// addKeys has the state of the credentials told that may spend the next chunk.
func (q *queue) addKeys(b *batch, own *leasedLane) {
	if n := len(own.chunks); n > 0 {
		for k := range own.chunks[n-1].keys {
			if len(b.claim.keys) < maxLeased {
				b.key(k)
			}
		}
	}
}

// sharers is how many processes share a limit, for all that is known.
func (t *Throttle) sharers() int {
	_, live := t.store.fleet()
	return max(1, live, t.cfg.Instances)
}

// holdLocked takes over what was leased.
func (q *queue) holdLocked(b *batch, ans *answer, now time.Time) {
	ask := b.claim.lease
	if ans.leased < 1 || ask == nil {
		return
	}
	c := &chunk{Chunk: leasing.NewChunk(ans.leased, ask.cost, b.began, q.leases.age), at: ans.now, keys: map[Fingerprint]float64{}}
	for i, k := range b.claim.keys {
		if !ans.keys[i].refused {
			c.keys[k] = ans.keys[i].gen
		}
	}
	if q.pause.left(now) > 0 || q.a.pauseNow().left(now) > 0 || q.t.closed.Load() || q.retired.Load() {
		q.returnLocked(c) // the store didn't know of it yet
		return
	}
	c.end = time.AfterFunc(max(0, c.Ends().Sub(now)), func() { q.endLease(c) })
	q.leases.mu.Lock()
	defer q.leases.mu.Unlock()
	own := &q.leases.lanes[ask.lane]
	own.chunks = append(own.chunks, c)
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
	if s, any := c.rest(); any {
		q.addLocked(s, false, 0)
	}
}

// rest ends a chunk and returns the settlement that gives it back.
func (c *chunk) rest() (settlement, bool) {
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

// sealLocked gives back with the claim what calls of the lane could spend. The
// locks of the queue and its leases are held.
func (q *queue) sealLocked(b *batch, lane int) {
	for ; lane < len(q.leases.lanes); lane++ {
		own := &q.leases.lanes[lane]
		for _, c := range own.chunks {
			if s, any := c.rest(); any {
				b.claim.settles = append(b.claim.settles, s)
			}
		}
		own.chunks = nil
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
