package throttle

import (
	"container/list"
	"math"
	"sync/atomic"
	"time"
)

// A rota is how the calls of a budget with a policy for tenants take turns. Each
// tenant's calls of a lane are a row, in the order in which they came. A turn is
// the next call of a row, or as many as the tenant's weight; then the row stands
// behind all others. So a tenant's ten thousand calls wait behind themselves, and
// another's first behind at most one turn of each row.
//
// A row waits since its last turn ended, or its first call came. That is when its
// calls came as far as tickets are concerned: rows of several processes take
// turns, too, as far as each process's first waiting call of a lane shows them.
//
// A rota is guarded by q.mu, but for a row's counts.
type rota struct {
	weight func(string) int
	max    int
	forget time.Duration
	each   int // how many limits a tenant has of its own
	shared int // the place of the first of them

	rows  map[string]*row
	swept time.Time
	order []*list.List // by lane: of *rowLane, whose turn is next first
	// withdrawn are the tenants of which tickets are to be taken back.
	withdrawn map[string]bool
	// While an answer is applied: the lane and the time of the runs so far.
	lane int
	came float64
}

// A row is a tenant, as far as this process knows it.
type row struct {
	name, id string
	weight   int
	used     time.Time
	lanes    []*rowLane // nil: none waits there
	recheck  bool       // room was given back since its calls were told of their turn
	score    float64    // of its use, at the instant scored
	scored   time.Time

	admitted, denied atomic.Int64
}

// A rowLane is a tenant's row in a lane.
type rowLane struct {
	row     *row
	lane    int
	asks    list.List // of *ask
	settled int       // how many were told to wait
	lack    lack      // what these lack together of the limits of all
	own     []float64 // and of the tenant's own
	taken   int       // calls of this turn that have gone
	since   float64   // the store's time when the last turn ended; 0: not known
	sinceAt time.Time // and here
	place   *list.Element
}

func newTurns(b *Budget, shared, each, lanes int, forget time.Duration) *rota {
	t := &rota{
		weight: b.Tenants.Weight, max: b.Tenants.Max, forget: forget, each: each, shared: shared,
		rows: map[string]*row{}, withdrawn: map[string]bool{}, lane: -1,
	}
	if t.max == 0 {
		t.max = DefaultTenants
	}
	for range lanes {
		t.order = append(t.order, list.New())
	}
	return t
}

// rowFor returns the row of a tenant, and the overflow's where too many are
// remembered. It takes q.mu itself.
func (q *queue) rowFor(id string) *row {
	t, name, now := q.turns, tenantName(id), time.Now()
	q.mu.Lock()
	r := t.rows[name]
	q.mu.Unlock()
	weight := 1
	if r == nil && t.weight != nil {
		weight = max(1, t.weight(id)) // a caller's code, so without the lock
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if r = t.rows[name]; r == nil {
		if name != "" && t.full() {
			t.sweep(now)
		}
		if name != "" && t.full() {
			name, id, weight = overflowTenant, "", 1
		}
		if r = t.rows[name]; r == nil {
			r = &row{name: name, id: id, weight: weight, lanes: make([]*rowLane, len(t.order))}
			t.rows[name] = r
		}
	}
	r.used = now
	return r
}

// full reports whether as many tenants are remembered as may be told apart.
func (t *rota) full() bool {
	n := len(t.rows)
	for _, name := range [...]string{"", overflowTenant} {
		if t.rows[name] != nil {
			n--
		}
	}
	return n >= t.max
}

// sweep forgets the tenants that nobody calls for, at most once a second.
func (t *rota) sweep(now time.Time) {
	if now.Sub(t.swept) < time.Second {
		return
	}
	t.swept = now
	for name, r := range t.rows {
		if now.Sub(r.used) >= t.forget && !r.waits() {
			delete(t.rows, name)
		}
	}
}

func (r *row) waits() bool {
	for _, l := range r.lanes {
		if l != nil {
			return true
		}
	}
	return false
}

// enter puts a call at the end of its row.
func (t *rota) enter(a *ask) {
	l := a.row.lanes[a.lane]
	if l == nil {
		l = &rowLane{row: a.row, lane: a.lane, lack: lack{units: make([]float64, t.shared)}, own: make([]float64, t.each)}
		l.place = t.order[a.lane].PushBack(l)
		a.row.lanes[a.lane] = l
	}
	a.inRow = l.asks.PushBack(a)
}

// leave takes a call out of its row.
func (t *rota) leave(a *ask) {
	l := a.row.lanes[a.lane]
	if a.inRow == nil || l == nil {
		return
	}
	l.asks.Remove(a.inRow)
	a.inRow = nil
	if l.asks.Len() == 0 {
		t.order[a.lane].Remove(l.place)
		a.row.lanes[a.lane] = nil
	}
}

// count adds what a waiting call lacks to its row, or takes it away.
func (t *rota) count(a *ask, sign float64) {
	l := a.row.lanes[a.lane]
	if l == nil {
		return
	}
	l.settled += int(sign)
	l.lack.add(a, sign)
	for i := range l.own {
		if a.lacks&(1<<(t.shared+i)) != 0 {
			l.own[i] += sign * a.need[t.shared+i]
		}
	}
}

// went notes that a call goes.
func (t *rota) went(a *ask, ans *answer, now time.Time) {
	at := ans.now
	if ans.local {
		at = 0
	}
	a.row.admitted.Add(1)
	a.row.note(now)
	l := a.row.lanes[a.lane]
	if l == nil || a.inRow == nil {
		return
	}
	if l.taken++; l.taken >= a.row.weight {
		l.taken, l.since, l.sinceAt = 0, at, now
		t.order[a.lane].MoveToBack(l.place)
	}
}

// note counts a call towards the row's use, of which half is forgotten in a
// minute.
func (r *row) note(now time.Time) {
	r.score = r.scoreAt(now) + 1
	r.scored = now
}

func (r *row) scoreAt(now time.Time) float64 {
	return r.score * math.Exp2(-now.Sub(r.scored).Minutes())
}

// turn is in which round of turns the n-th call of the row has its place.
func (l *rowLane) turn(n int) int { return (l.taken + n) / l.row.weight }

// in is how many calls of the row have their place before the end of a round.
func (l *rowLane) in(round int) int { return (round+1)*l.row.weight - l.taken }

// dozes reports whether the row's first call waits for the tenant's own limits
// alone, and its turn hasn't come.
func (t *rota) dozes(l *rowLane, now time.Time) bool {
	a := l.asks.Front().Value.(*ask)
	return !l.row.recheck && a.place.Settled() && a.lacks != 0 && a.lacks&^t.ownLacks() == 0 && a.turn.After(now)
}

// ownLacks is the set of the limits that are each tenant's own.
func (t *rota) ownLacks() lackSet { return (1<<t.each - 1) << t.shared }

// next is when the first of the rows that doze wakes; zero: none does.
func (t *rota) next(now time.Time) (next time.Time) {
	for _, rows := range t.order {
		for e := rows.Front(); e != nil; e = e.Next() {
			l := e.Value.(*rowLane)
			if a := l.asks.Front().Value.(*ask); t.dozes(l, now) && (next.IsZero() || a.turn.Before(next)) {
				next = a.turn
			}
		}
	}
	return next
}

// withdraw has a tenant's tickets taken back, or replaced, for a call that
// leaves, and has those behind it told anew.
func (q *queue) withdrawOwnLocked(a *ask) {
	if q.turns != nil && a.lacks&q.turns.ownLacks() != 0 {
		a.row.recheck = true
		q.turns.withdrawn[a.row.name] = true
		q.errand = true
	}
}

// roomGivenTo has a tenant's calls judged anew: room was given back in its own
// limits. "": nobody's.
func (q *queue) roomGivenTo(tenant string) {
	if q.turns == nil || tenant == "" {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.recheckLocked(tenant)
}

func (q *queue) recheckLocked(tenant string) {
	if q.turns != nil {
		if r := q.turns.rows[tenant]; r != nil {
			r.recheck = true
		}
	}
}

// recheckAllLocked has all calls judged anew: what was known of their turns may
// be wrong.
func (q *queue) recheckAllLocked() {
	if q.turns != nil {
		for _, r := range q.turns.rows {
			r.recheck = true
		}
	}
}

// pass notes the next run of an answer that is applied, so that its calls know
// since when they wait as the store has it.
func (t *rota) pass(r *run, at float64) {
	came := r.since
	if came == 0 {
		came = at - r.age
	}
	if r.lane == t.lane {
		came = max(came, t.came)
	}
	t.lane, t.came = r.lane, came
}

// makeRoomLocked reports whether a call may wait. Where the room is full and
// tenants take turns, the last call of the longest row gives up its place to one
// of a shorter row, but to none of a lower lane.
func (q *queue) makeRoomLocked(a *ask) bool {
	if q.room.Len()-q.room.Fresh() < q.t.cfg.QueueLimit {
		return true
	}
	if q.turns == nil {
		return false
	}
	var longest *rowLane
	for lane := a.lane; lane < len(q.turns.order); lane++ {
		for e := q.turns.order[lane].Front(); e != nil; e = e.Next() {
			if l := e.Value.(*rowLane); longest == nil || l.settled > longest.settled {
				longest = l
			}
		}
	}
	own := 0
	if l := a.row.lanes[a.lane]; l != nil {
		own = l.settled
	}
	if longest == nil || longest.row == a.row || longest.settled <= own+1 {
		return false
	}
	for e := longest.asks.Back(); e != nil; e = e.Prev() {
		last := e.Value.(*ask)
		if !last.place.Settled() || last.inFlight {
			continue
		}
		e := last.denial(ErrQueueFull)
		e.RetryAfter = max(0, time.Until(last.turn))
		q.departLocked(last)
		last.answers <- reply{kind: replyDenied, err: e}
		return true
	}
	return false
}

// takeRow finds the call's tenant, where its queue has a policy for them.
func (a *ask) takeRow() {
	if a.q.turns == nil {
		return
	}
	a.row = a.q.rowFor(a.call.Tenant)
	if len(a.q.all) > len(a.q.limits) {
		a.tenant = a.row.name
	}
}
