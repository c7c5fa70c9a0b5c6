package throttle

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// turns_gather.go makes the part of a claim that is about calls which take turns:
// by rounds of turns, those that were told to wait before those that nobody has
// judged yet. Calls that find no place keep theirs as sums, before the unjudged
// calls that come behind them.

// A gathering is the calls of a claim that take turns.
type gathering struct {
	*queue
	b     *batch
	now   time.Time
	fresh [][]turnOf // by lane
	fits  int        // how many more waiting calls have a place
	// taken are the waiting calls that have one so far, and stood for how many
	// lanes a tenant's own lacks are in the claim, by its place.
	taken []turnOf
	stood map[int]int
	about map[*row]bool // the tenants of which unjudged calls travel
	held  lack          // of the lane that is gathered: what stands as sums before the next call
}

// A turnOf is a call and the round of its turn.
type turnOf struct {
	a     *ask
	l     *rowLane
	round int
}

// gatherTurns adds waiting and unjudged calls to the claim.
func (q *queue) gatherTurns(b *batch, waiting, fresh int, now time.Time) {
	g := &gathering{queue: q, b: b, now: now, fits: waiting, stood: map[int]int{}, about: map[*row]bool{}}
	for lane := range q.turns.order {
		calls := g.unjudged(lane, fresh)
		fresh -= len(calls)
		g.fresh = append(g.fresh, calls)
		for _, f := range calls {
			g.about[f.l.row] = true
		}
	}
	for name := range q.turns.withdrawn {
		b.judge(b.claim.addTenant(name))
	}
	clear(q.turns.withdrawn)
	for lane := range q.turns.order {
		g.gather(lane)
	}
	g.judged()
}

// judge marks a tenant of which the claim has the first waiting calls.
func (b *batch) judge(place int) {
	if place > 0 {
		b.claim.tenants[place-1].judged = true
	}
}

// unjudged are the calls of a lane that nobody has judged, at most most, by their
// turns.
func (g *gathering) unjudged(lane, most int) (calls []turnOf) {
	if g.room.Fresh() == 0 {
		return nil
	}
	for e := g.turns.order[lane].Front(); e != nil; e = e.Next() {
		l := e.Value.(*rowLane)
		from, n := len(calls), l.asks.Len()
		for p, left := l.asks.Back(), n-l.settled; left > 0; p = p.Prev() {
			if n--; !p.Value.(*ask).place.Settled() {
				calls = append(calls, turnOf{p.Value.(*ask), l, l.turn(n)})
				left--
			}
		}
		slices.Reverse(calls[from:])
		calls = calls[:min(len(calls), from+max(0, most))]
	}
	slices.SortStableFunc(calls, func(x, y turnOf) int { return cmp.Compare(x.round, y.round) })
	return calls[:min(len(calls), max(0, most))]
}

// gather adds the calls of a lane.
func (g *gathering) gather(lane int) {
	g.held = lack{units: make([]float64, g.turns.shared)}
	from := len(g.taken)
	g.choose(lane)
	waiting, fresh := g.taken[from:], g.fresh[lane]
	added, until := 0, -1
	for _, f := range fresh {
		for ; added < len(waiting) && waiting[added].round <= f.round; added++ {
			g.add(waiting[added])
		}
		if f.round > until {
			until = g.stand(lane, f.round, waiting)
		}
		g.add(f)
	}
	for ; added < len(waiting); added++ {
		g.add(waiting[added])
	}
	g.hold(lane, g.ahead(lane, math.MaxInt, waiting))
}

// stand keeps the places of those who have their turn before the end of a round,
// and returns until the end of which round nobody else has one.
func (g *gathering) stand(lane, round int, waiting []turnOf) int {
	g.hold(lane, g.ahead(lane, round, waiting))
	for e := g.turns.order[lane].Front(); e != nil; e = e.Next() {
		if l := e.Value.(*rowLane); l.in(round) < l.settled {
			return round
		}
	}
	return math.MaxInt
}

// choose picks the waiting calls of a lane that travel with the claim: as many as
// fit, by rounds, the first of the lane in any case, and of each tenant of which
// unjudged calls travel. Rows that doze are left out.
func (g *gathering) choose(lane int) {
	type cursor struct {
		l *rowLane
		e int // calls of the row that were passed
	}
	var rows []cursor
	from := len(g.taken)
	least := 1
	for e := g.turns.order[lane].Front(); e != nil; e = e.Next() {
		l := e.Value.(*rowLane)
		first := l.asks.Front().Value.(*ask)
		must := g.about[l.row] || g.b.judges(l.row.name)
		if !first.place.Settled() || !must && g.turns.dozes(l, g.now) {
			continue
		}
		if g.fits > 0 || must || least > 0 {
			g.taken = append(g.taken, turnOf{first, l, l.turn(0)})
			g.fits--
			least = 0
			rows = append(rows, cursor{l, 1})
		}
	}
	for round := 0; g.fits > 0 && len(rows) > 0; round++ {
		left := rows[:0]
		for _, c := range rows {
			for e, n := c.l.asks.Front(), 0; e != nil && n < c.l.in(round) && g.fits > 0; e, n = e.Next(), n+1 {
				if a := e.Value.(*ask); n >= c.e && a.place.Settled() {
					g.taken = append(g.taken, turnOf{a, c.l, round})
					g.fits--
				}
			}
			if c.e = max(c.e, c.l.in(round)); c.e < c.l.settled {
				left = append(left, c)
			}
		}
		rows = left
	}
	slices.SortStableFunc(g.taken[from:], func(x, y turnOf) int { return cmp.Compare(x.round, y.round) })
}

// judges reports whether the claim replaces a tenant's tickets.
func (b *batch) judges(name string) bool {
	place := b.claim.placeOf(name)
	return place > 0 && b.claim.tenants[place-1].judged
}

// ahead is what the waiting calls of a lane lack of the limits of all that have
// their turn before the end of a round, without those that travel.
func (g *gathering) ahead(lane, round int, taken []turnOf) lack {
	sum := lack{units: make([]float64, g.turns.shared)}
	for e := g.turns.order[lane].Front(); e != nil; e = e.Next() {
		l := e.Value.(*rowLane)
		if n := l.settled; round < math.MaxInt && l.in(round) < n {
			sum.addPart(&l.lack, l.in(round), n)
		} else {
			sum.addPart(&l.lack, n, n)
		}
	}
	for _, w := range taken {
		if w.round <= round {
			sum.add(w.a, -1)
		}
	}
	return sum
}

// addPart adds what n of all calls lack: their part of the sum, rounded up.
func (l *lack) addPart(sum *lack, n, all int) {
	if all == 0 {
		return
	}
	for i, u := range sum.units {
		l.units[i] += math.Ceil(u * float64(n) / float64(all))
	}
	for i, p := range sum.pauses {
		l.pauses[i] += math.Ceil(p * float64(n) / float64(all))
	}
}

// hold adds what stands before the next call beyond what stands already.
func (g *gathering) hold(lane int, l lack) {
	more := lack{units: make([]float64, len(l.units))}
	any := false
	for i := range l.units {
		more.units[i] = max(0, l.units[i]-g.held.units[i])
		g.held.units[i] += more.units[i]
		any = any || more.units[i] > 0
	}
	for i := range l.pauses {
		more.pauses[i] = max(0, l.pauses[i]-g.held.pauses[i])
		g.held.pauses[i] += more.pauses[i]
		any = any || more.pauses[i] > 0
	}
	if any {
		g.b.hold(lane, more)
	}
}

// add puts a call into the claim, behind what those of its tenant lack of the
// tenant's own limits that stand before it and don't travel.
func (g *gathering) add(w turnOf) {
	if w.a.tenant != "" && g.turns.each > 0 {
		place := g.b.claim.addTenant(w.a.tenant)
		to := w.a.lane
		if !w.a.place.Settled() {
			to++
		}
		for lane := g.stood[place]; lane < to; lane++ {
			g.standOwn(place, w.l.row.lanes[lane])
		}
		g.stood[place] = max(g.stood[place], to)
	}
	if w.a.place.Settled() {
		w.l.row.recheck = false
	} else {
		g.b.fresh |= 1 << w.a.lane
		if came := w.a.arrived; g.b.claim.arrived.IsZero() || came.Before(g.b.claim.arrived) {
			g.b.claim.arrived = came
		}
	}
	g.b.add(w.a, g.now)
}

// standOwn adds what the waiting calls of a row lack of their tenant's own
// limits, without those that travel.
func (g *gathering) standOwn(place int, l *rowLane) {
	if l == nil {
		return
	}
	own := slices.Clone(l.own)
	for _, w := range g.taken {
		if w.l != l {
			continue
		}
		for i := range own {
			if w.a.lacks&(1<<(g.turns.shared+i)) != 0 {
				own[i] -= w.a.need[g.turns.shared+i]
			}
		}
	}
	if slices.Max(append(own, 0)) > 0 {
		g.b.holdOwn(l.lane, g.turns.shared, own, place)
	}
}

// holdOwn keeps the places of calls that wait for their tenant's own limits.
func (b *batch) holdOwn(lane, shared int, own []float64, place int) {
	cost := append(make([]float64, shared, shared+len(own)), own...)
	b.claim.runs = append(b.claim.runs, run{lane: lane, hold: true, cost: cost, tenant: place})
	b.asks = append(b.asks, nil)
}

// judged marks the tenants whose first waiting call of every lane travels: their
// tickets are replaced. Those of others are left alone.
func (g *gathering) judged() {
	first := map[*rowLane]bool{}
	for _, w := range g.taken {
		g.about[w.l.row] = true
		first[w.l] = first[w.l] || w.l.asks.Front().Value.(*ask) == w.a
	}
	for r := range g.about {
		all := true
		for _, l := range r.lanes {
			if l != nil && l.settled > 0 {
				all = all && first[l]
			}
		}
		if place := g.b.claim.placeOf(r.name); all && place > 0 {
			g.b.judge(place)
		}
	}
}

// sinceOf is since when a call waits as far as turns are concerned: since its
// row's last turn ended, if that was later. A call whose turn isn't the next
// doesn't wait yet.
func (t *rota) sinceOf(a *ask, now time.Time) (since, age float64) {
	l := a.row.lanes[a.lane]
	switch {
	case l == nil || !l.isNext(a):
		return 0, 0
	case a.since > 0:
		return max(a.since, l.since), 0
	case l.since > 0 && a.arrived.Before(l.sinceAt):
		return l.since, 0
	}
	return 0, max(0, float64(now.Sub(a.arrived).Microseconds()))
}

// isNext reports whether a call belongs to the row's next turn.
func (l *rowLane) isNext(a *ask) bool {
	n := 0
	for e := l.asks.Front(); e != nil && n < l.in(0); e, n = e.Next(), n+1 {
		if e.Value.(*ask) == a {
			return true
		}
	}
	return false
}

// aheadOfOneLocked is what stands before a call of another process's Check, were
// it made now, of a lane.
func (q *queue) aheadOfOneLocked(b *batch, a *ask, lane int) lack {
	if q.turns == nil {
		return q.lacking[lane]
	}
	g := &gathering{queue: q, b: b}
	l := a.row.lanes[lane]
	if a.tenant != "" {
		g.standOwn(b.claim.addTenant(a.tenant), l)
	}
	switch {
	case lane < a.lane:
		return q.lacking[lane]
	case l == nil:
		return g.ahead(lane, 0, nil)
	}
	return g.ahead(lane, l.turn(l.asks.Len()), nil)
}
