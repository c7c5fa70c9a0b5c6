package throttle

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

// A queue brings the calls of one budget of one account to the store. At most
// one claim of it is under way; whoever arrives meanwhile travels with the
// next one, so that a lone call goes at once and many share a round trip. The
// claim has a context of its own: a caller that leaves takes nobody along.
//
// Calls that were told to wait stay in the room. The store has said when it
// will be their turn, and one timer claims for them at that instant; nothing
// polls.
type queue struct {
	t      *Throttle
	a      *account
	id     string // of the budget in the store
	name   string // of the budget for people
	limits []spec // the budget's, then the account's
	own    int    // how many are the budget's
	all    []spec // limits, then those that each tenant has of its own
	turns  *rota  // of tenants; nil: calls of a lane go in the order in which they came
	outage Outage
	price  Price
	sells  bool // there is a price
	free   bool // of a model that no budget matches
	dry    bool // its calls all go; see dryrun.go
	tally  atomic.Pointer[tally]
	firsts atomic.Pointer[firsts]
	lead   Call // one that leads here; set where the queue is made, or in hand
	// process tells this queue's claims from those of every other, of this
	// process and of others: the throttle's own bytes and a number.
	process string

	part part // guarded by the outage's mu

	mu      sync.Mutex
	room    *lanes.Room[*ask]
	lacking []lack        // by lane: what the settled calls lack together
	sending bool          // a claim is under way, or about to be
	rested  chan struct{} // closed once no claim is under way; nil: nobody asks
	due     bool          // waiting calls are to be claimed for now
	errand  bool          // the store is to be told something, whoever calls
	seated  bool          // it has a ticket for a waiting call
	tells   bool          // refused keys go along with the next claim
	news    [2]string     // epochs of lost records, of which others have told
	shadow  shadow
	leases  *leases     // nil: none
	denies  atomic.Bool // models are, or were, denied
	inFlight
	learning
	vendorWord
	retired atomic.Bool // its budget is gone or has changed
	settles []settlement
	pushed  bool // settlements are not to wait for company any longer
	pause   shut
	denied  map[modelID]deniedUntil
	empties []emptied // by lane
	number  float64   // of the last claim
	ledger  ledger    // what the store has to be told
	toldAt  time.Time // when it was last told while it was only told; the sender's own
	wake    *time.Timer
	wakeAt  time.Time
	flush   *time.Timer
}

// A lack is what waiting calls need together: units by limit, and how many
// wait for the budget's and the account's pause.
type lack struct {
	units  []float64
	pauses [2]float64
	since  float64 // the store's time at which the last of its lane came
}

type deniedUntil struct {
	at      time.Time
	verdict Verdict
}

// Sizes of a claim, and how long settlements wait for one to travel with.
const (
	batchMax   = 256 // fresh calls in a claim
	dueMax     = 128 // waiting calls in a claim made for them
	peekMax    = 16  // waiting calls in a claim made for fresh ones
	settleMax  = 256
	settleWait = 20 * time.Millisecond
	fixWait    = time.Second // until a claim in vain is told, if no other comes
)

func newQueue(t *Throttle, a *account, id string, b *Budget) *queue {
	q := &queue{
		t: t, a: a, id: id, name: b.Name, outage: b.Outage, price: b.Price, sells: b.Price != Price{}, free: b.free,
		dry:    t.cfg.DryRun || b.DryRun,
		room:   lanes.NewRoom[*ask](len(t.cfg.Lanes)),
		denied: map[modelID]deniedUntil{}, empties: make([]emptied, len(t.cfg.Lanes)),
	}
	q.tally.Store(&tally{})
	q.firsts.Store(&firsts{})
	q.process = t.id + string(binary.BigEndian.AppendUint32(nil, t.queues.Add(1)))
	q.limits = compileLimits(b.Limits, t.cfg.Lanes, a.id+"/"+id)
	q.own = len(q.limits)
	q.limits = append(q.limits, compileLimits(t.cfg.Account, t.cfg.Lanes, a.id)...)
	q.all = q.limits
	if !b.Tenants.off() {
		each := compileTenants(b.Tenants, b.Limits, t.cfg.Lanes, a.id+"/"+id)
		q.all = append(slices.Clip(q.limits), each...)
		q.turns = newTurns(b, len(q.limits), len(each), len(t.cfg.Lanes), forgetAfter(each))
	}
	q.budget, q.born = b, time.Now()
	if b.Learn && len(b.Limits) == 0 {
		q.gate = newGate()
	}
	if len(q.all) == len(q.limits) { // what a tenant may use isn't known ahead
		q.leases = newLeases(t.cfg.Lease, q.limits, len(t.cfg.Lanes))
	}
	q.counts = slices.ContainsFunc(q.limits, func(s spec) bool { return s.inFlight() })
	q.renew = time.AfterFunc(time.Hour, q.onRenew)
	q.renew.Stop()
	for range t.cfg.Lanes {
		q.lacking = append(q.lacking, lack{units: make([]float64, len(q.limits))})
	}
	q.wake = time.AfterFunc(time.Hour, q.onWake)
	q.wake.Stop()
	q.flush = time.AfterFunc(time.Hour, q.onFlush)
	q.flush.Stop()
	return q
}

// kick starts a sender if there is work and none is under way. It is called
// with q.mu held and returns with it released.
func (q *queue) kick() {
	if q.sending || !q.workLocked() {
		q.mu.Unlock()
		return
	}
	q.sending = true
	q.mu.Unlock()
	if q.t.store.immediate() {
		// One round here; whoever came meanwhile doesn't keep this caller.
		if q.round() {
			go q.send()
		}
		return
	}
	go q.send()
}

func (q *queue) workLocked() bool {
	return q.room.Fresh() > 0 || q.due && q.room.Len() > 0 || q.errand || q.newsLocked() ||
		q.pushed && (len(q.settles)+len(q.ledger.fixes) > 0 || q.floors != nil)
}

// send makes claims until there is nothing to claim for.
func (q *queue) send() {
	for q.round() {
	}
}

// round makes one claim, and reports whether there is work for another.
func (q *queue) round() bool {
	now := time.Now()
	q.mu.Lock()
	if q.serveLocked(now); !q.workLocked() {
		defer q.mu.Unlock()
		return q.restLocked(false)
	}
	b := q.gather(now)
	q.mu.Unlock()
	done := false
	defer func() {
		if !done { // Config.Observe has panicked; the next call starts anew
			q.mu.Lock()
			q.restLocked(false)
			q.mu.Unlock()
		}
	}()
	ans := q.t.decide(q, b)
	q.apply(b, ans)
	done = true
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.restLocked(q.workLocked())
}

// restLocked notes whether the sender goes on, and tells who waits for its end.
func (q *queue) restLocked(more bool) bool {
	if q.sending = more; !more && q.rested != nil {
		close(q.rested)
		q.rested = nil
	}
	return more
}

// onWake claims for the waiting calls: by the store's word it is the turn of
// the first of them.
func (q *queue) onWake() {
	q.mu.Lock()
	q.wakeAt = time.Time{}
	q.due = true
	q.kick()
}

func (q *queue) onFlush() {
	q.mu.Lock()
	q.pushed = true
	q.kick()
}

// wakeAtLocked sets the timer for the waiting calls to at, if that is earlier
// than it is set to.
func (q *queue) wakeAtLocked(at time.Time) {
	if at.IsZero() || !q.wakeAt.IsZero() && !at.Before(q.wakeAt) {
		return
	}
	q.wakeAt = at
	q.wake.Reset(max(0, time.Until(at)))
}

// addLocked queues a correction. It travels with the next claim, or alone once
// it has waited; where calls wait here for room that it gives back, at once. A
// local charge is corrected where it was made; the store is told with what it
// is still to be told of that time, or was told it and is corrected too.
func (q *queue) addLocked(s settlement, local bool, round int) {
	gives := s.calls > 0
	for _, d := range s.delta {
		gives = gives || d < 0
	}
	if gives {
		q.a.gives()
	}
	waiting := q.room.Len() - q.room.Fresh()
	if local {
		q.t.outage.settle(q, s)
		how, booked, known := q.ledger.bookedAt(round)
		if !booked {
			q.spendLocked(s.tenant, s.delta)
			q.due = q.due || gives && waiting > 0
		}
		if !booked || !known {
			return
		}
		s = how.correct(s)
	}
	q.settles = append(q.settles, s)
	switch {
	case gives && waiting > 0:
		q.due, q.pushed = true, true
		q.recheckLocked(s.tenant)
	case q.retired.Load():
		q.pushed = true // no call will come along
	case len(q.settles) >= settleMax:
		q.pushed = true
	case len(q.settles) == 1:
		q.flush.Reset(settleWait)
	}
}

// settleLocked moves a call to the waiting ones, with what it lacks.
func (q *queue) settleLocked(a *ask, lacks lackSet) {
	if a.place.Settled() {
		q.countLocked(a, -1)
	}
	a.lacks = lacks
	q.room.Settle(a.place)
	q.countLocked(a, 1)
}

// enterLocked takes a call into the room.
func (q *queue) enterLocked(a *ask) {
	a.answers = make(chan reply, 2) // not kept for later: a channel may belong to a test's bubble
	a.place = q.room.Enter(a.lane, a)
	if q.turns != nil {
		q.turns.enter(a)
	}
}

// departLocked takes out a call that won't be sent. Where it lacked room, it
// stood in the way of those behind it: they are claimed for at once.
func (q *queue) departLocked(a *ask) {
	stood := a.place.Settled() && a.lacks&(lacksBudget-1) != 0
	q.leaveLocked(a)
	if stood {
		q.due = true
		q.a.gives()
	}
	q.withdrawLocked(a.lane)
	q.withdrawOwnLocked(a)
}

// withdrawLocked has the ticket of a lane taken back in which nobody waits any
// more. Where others do, their next claim replaces it.
func (q *queue) withdrawLocked(lane int) {
	q.errand = q.errand || q.seated && !q.waitsLocked(lane)
}

// waitsLocked reports whether a call of the lane was told to wait.
func (q *queue) waitsLocked(lane int) (waits bool) {
	q.room.EachSettled(lane, func(*place) bool { waits = true; return false })
	return waits
}

// leaveLocked takes a call out of the room.
func (q *queue) leaveLocked(a *ask) {
	if a.place.Settled() {
		q.countLocked(a, -1)
	}
	q.room.Leave(a.place)
	if q.turns != nil {
		q.turns.leave(a)
	}
}

// countLocked adds what a waiting call lacks to its lane's sum.
func (q *queue) countLocked(a *ask, sign float64) {
	l := &q.lacking[a.lane]
	l.add(a, sign)
	if q.turns != nil {
		q.turns.count(a, sign)
	}
}

func (l *lack) add(a *ask, sign float64) {
	for i := range l.units {
		if a.lacks&(1<<i) != 0 {
			l.units[i] += sign * a.need[i]
		}
	}
	for i := range l.pauses {
		if a.lacks&(lacksBudget<<i) != 0 {
			l.pauses[i] += sign
		}
	}
}
