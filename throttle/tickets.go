package throttle

import (
	"cmp"
	"math"
	"slices"
)

// Who waits longer goes first, across the fleet: every queue of every process
// leaves a ticket for the longest-waiting call of each of its lanes, in the
// records whose limits the call lacks. A ticket counts as use towards calls of
// lower lanes and those of its own lane that came later, on what its call lacks
// and nothing else. Its queue's next claim replaces it. One that isn't redeemed
// in time has a dead owner, and holds nobody up any longer.
// tickets.go and lua/tickets.lua are the same, step by step; change both.
type ticket struct {
	process string // its queue's
	lane    int
	since   float64 // when its call came
	turn    float64 // when it should be back
	lacks   []shortage
}

// A shortage is what a waiting call needs of one limit, by the limit's label.
// Label 0 is its place in the record's ramp.
type shortage struct{ label, units float64 }

// ticketKept is how long, in microseconds, a ticket stands after its turn.
const ticketKept = 250_000

// How long after its turn a living ticket's call has gone, and has surely gone.
const (
	ticketGone = 5_000
	ticketLate = 50_000
)

// overdue is when it is worth looking again at a call that waits: soon after its
// turn, when it should have gone, and when it is void.
func (t *ticket) overdue(now float64) float64 {
	switch {
	case t.turn+ticketGone > now:
		return t.turn + ticketGone
	case t.turn+ticketLate > now:
		return t.turn + ticketLate
	}
	return t.turn + ticketKept + 1
}

// ownerBytes is how much of a queue's name is its process's: when one ticket of
// a process is void, all are.
const ownerBytes = 8

func owner(process string) string { return process[:min(ownerBytes, len(process))] }

// A line is the waiting calls of other processes.
type line struct {
	waiting    []placed
	next       int       // the first of them that isn't ahead yet
	lane       int       // of the run that is judged
	since      float64   // when it came, by the order of its lane
	others     []float64 // by limit: what those ahead need
	othersRamp [2]float64
	again      float64 // when the first of those ahead has gone, or turns out to be late or dead
	seats      []seat  // of this claim's own waiting calls
	seated     int     // the last lane that has one for the limits of all; from 1
	withdrawn  []withdrawal
}

// A withdrawal is a ticket that the claim's own queue has taken back.
type withdrawal struct {
	ticket
	record int
	stands bool // its call has gone, or waits on: it has left no room behind
}

// A placed ticket is one and where it stands: 0 the budget's record, 1 the
// account's, from 2 on a tenant's.
type placed struct {
	ticket
	record int
}

// A seat is the longest-waiting call of a lane of this claim: for the limits
// that aren't each tenant's own, or for those of one tenant.
type seat struct {
	lane        int
	tenant      int // whose; 0: nobody's
	since, turn float64
	lacks       lackSet
	cost        []float64
}

// lineUp takes the tickets of the claim's own queue back, drops those of the
// dead, and sorts the others by their order.
func (b *bench) lineUp() {
	b.again = math.Inf(1)
	var dead []string
	for i := range b.ticketed() {
		for _, t := range b.recordAt(i).line {
			if o := owner(t.process); t.turn+ticketKept < b.now && o != owner(b.c.process) {
				dead = append(dead, o)
			}
		}
	}
	for i := range b.ticketed() {
		rec := b.recordAt(i)
		before := len(rec.line)
		rec.line = slices.DeleteFunc(rec.line, func(t ticket) bool {
			if b.c.process != "" && t.process == b.c.process {
				taken := i < 2 || b.tenants[i-2].judged
				if taken {
					b.withdrawn = append(b.withdrawn, withdrawal{ticket: t, record: i})
				}
				return taken
			}
			return slices.Contains(dead, owner(t.process))
		})
		if i < 2 {
			b.dirty[i] = b.dirty[i] || len(rec.line) < before
		}
		for _, t := range rec.line {
			if b.c.process == "" || t.process != b.c.process {
				b.waiting = append(b.waiting, placed{t, i})
			}
		}
	}
	slices.SortStableFunc(b.waiting, func(s, t placed) int {
		return cmp.Or(cmp.Compare(s.lane, t.lane), cmp.Compare(s.since, t.since), cmp.Compare(s.process, t.process))
	})
}

// came is when the run's first call came, in the store's time.
func (b *bench) came(r *run) float64 {
	if r.since > 0 {
		return r.since
	}
	return b.now - r.age
}

// letAhead counts the tickets that go before the run's calls as use. What a
// process says of when its calls came is as late as its messages were slow, but
// no call came before those ahead of it in its own queue: else two processes
// would each wait for the other.
func (b *bench) letAhead(r *run) {
	since := b.came(r)
	if r.lane == b.lane {
		since = max(since, b.since)
	}
	b.lane, b.since = r.lane, since
	for ; b.next < len(b.waiting); b.next++ {
		t := &b.waiting[b.next]
		if t.lane > r.lane || t.lane == r.lane &&
			(t.since > since || t.since == since && t.process > b.c.process) {
			return
		}
		b.again = min(b.again, t.overdue(b.now))
		b.countTicket(t)
	}
}

func (b *bench) countTicket(t *placed) {
	if t.record >= 2 {
		defer b.use(b.tenant)
		b.use(t.record - 1)
	}
	for _, s := range t.lacks {
		if s.label == 0 {
			b.aheadRamp[t.record] += s.units
			b.othersRamp[t.record] += s.units
		}
		for i := range b.c.limits {
			if b.c.limits[i].label == s.label && b.recordOf(i) == b.recordAt(t.record) {
				b.ahead[i] += s.units
				b.others[i] += s.units
			}
		}
	}
}

// wait notes the first call of each lane that waits, and the first of each
// tenant that waits for its own limits. A call behind one of its tenant doesn't
// wait for the others' limits yet: it isn't its turn.
func (b *bench) wait(r *run, o outcome) {
	own := o.lacks & (lacksBudget - 1) >> b.c.shared() << b.c.shared()
	turn := r.tenant == 0
	if r.tenant > 0 {
		w := &b.tenants[r.tenant-1]
		turn = w.seated != r.lane+1
		w.seated = r.lane + 1
		if own != 0 && w.seat != r.lane+1 {
			w.seat = r.lane + 1
			b.seats = append(b.seats, seat{r.lane, r.tenant, b.since, b.now + o.wait, own, r.cost})
		}
	}
	if o.lacks != own && turn && b.seated != r.lane+1 {
		b.seated = r.lane + 1
		b.seats = append(b.seats, seat{r.lane, 0, b.since, b.now + o.wait, o.lacks &^ own, r.cost})
	}
}

// goes notes that calls of the run go, which may have had a ticket.
func (b *bench) goes(r *run) {
	for i := range b.withdrawn {
		w := &b.withdrawn[i]
		w.stands = w.stands || b.was(w, r.lane, r.tenant, b.since, r.cost)
	}
}

// was reports whether a ticket was that of a call, or of one that came at the
// same moment and needed no more.
func (b *bench) was(w *withdrawal, lane, tenant int, since float64, cost []float64) bool {
	if w.lane != lane || w.since != since || w.record >= 2 && w.record-1 != tenant {
		return false
	}
	for _, s := range w.lacks {
		for i := range b.c.limits {
			if b.c.limits[i].label == s.label && b.recordOf(i) == b.recordAt(w.record) && cost[i] < s.units {
				return false
			}
		}
	}
	return true
}

// seat leaves the tickets of the claim's queue. A call that had one and neither
// went nor waits on has given its room back.
func (b *bench) seat() {
	if b.c.process == "" {
		return
	}
	for _, s := range b.seats {
		if s.tenant > 0 {
			if b.use(s.tenant); b.tenants[s.tenant-1].judged {
				b.seatIn(s, 1+s.tenant)
			}
			continue
		}
		for i := range b.records() {
			b.seatIn(s, i)
		}
	}
	for _, w := range b.withdrawn {
		if w.record >= 2 {
			b.tenants[w.record-2].freed = b.tenants[w.record-2].freed || !w.stands
			continue
		}
		b.freed[w.record] = b.freed[w.record] || !w.stands
	}
}

// seatIn leaves the ticket of a seat in a record, if it lacks anything there.
func (b *bench) seatIn(s seat, record int) {
	lacks := b.shortages(s, record)
	if len(lacks) == 0 {
		return
	}
	rec := b.recordAt(record)
	rec.line = append(rec.line, ticket{b.c.process, s.lane, s.since, s.turn, lacks})
	if record < 2 {
		b.dirty[record] = true
	}
	for j := range b.withdrawn {
		w := &b.withdrawn[j]
		w.stands = w.stands || w.record == record && b.was(w, s.lane, s.tenant, s.since, s.cost)
	}
}

// shortages is what a waiting call lacks of a record's limits and ramp.
func (b *bench) shortages(s seat, record int) []shortage {
	var lacks []shortage
	if record < 2 && s.lacks&(lacksBudget<<record) != 0 {
		lacks = append(lacks, shortage{0, 1})
	}
	for i := range b.c.limits {
		if s.lacks&(1<<i) != 0 && b.recordOf(i) == b.recordAt(record) {
			lacks = append(lacks, shortage{b.c.limits[i].label, s.cost[i]})
		}
	}
	return lacks
}

// call makes it the turn of those who wait for calls in flight to end: a dead
// one among them isn't to keep the others from what was announced.
func (r *record) call(process string, now float64) {
	for i := range r.line {
		t := &r.line[i]
		if t.process != process && slices.ContainsFunc(t.lacks, func(s shortage) bool { return s.label == heldLabel }) {
			t.turn = min(t.turn, now)
		}
	}
}

// awaited reports whether somebody else waits for room in the record.
func (r *record) awaited(process string) bool {
	return slices.ContainsFunc(r.line, func(t ticket) bool { return t.process != process })
}
