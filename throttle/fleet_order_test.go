package throttle

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Who goes first: the calls that wait, in all processes, and what each needs.

// A standing is the longest-waiting call of one lane of one queue, as the fleet
// knows of it.
type standing struct {
	process     string
	lane        int
	since, turn int64
	needs       map[*meter]int64 // of the limits that it lacks
	ramps       [2]bool          // it lacks its place behind a pause
	budget      string
	books       [2]*book
	// To see whether its process comes in time:
	meters []*meter
	own    int // how many of them are the budget's
	cost   []int64
	before []int64 // what those of its own queue need that go first
	due    int64
	untold int64 // until then it need not know that somebody before it lacks less
}

// turns is the order within one claim.
type turns struct {
	ahead, others         []int64 // what those who go first need: all, and of other processes
	aheadRamp, othersRamp [2]int64
	lane                  int
	since                 int64 // the latest of its lane so far
	counted               map[*standing]bool
	void                  int64 // when the first of those who go first may have gone, or turn out to be dead
	went                  map[int]bool
	had                   map[int]*standing // the tickets that were taken back, by lane
	first                 map[int]*standing // the claim's own, by lane
}

// stands is for how long a ticket holds after its turn.
const stands = 250_000

func (r *referee) owned(s *standing) bool {
	return s.process[:8] == r.c.process[:min(8, len(r.c.process))]
}

// lineUp takes away the tickets of the claim's own queue, and all of processes
// of which one is overdue: they are dead.
func (r *referee) lineUp() {
	r.turns = turns{
		ahead: make([]int64, len(r.meters)), others: make([]int64, len(r.meters)),
		counted: map[*standing]bool{}, void: math.MaxInt64, lane: -1,
		went: map[int]bool{}, first: map[int]*standing{}, had: map[int]*standing{},
	}
	dead := map[string]bool{}
	for _, b := range r.books {
		for _, s := range b.line {
			if s.turn+stands < r.now && !r.owned(s) {
				dead[s.process[:8]] = true
			}
		}
	}
	for _, b := range r.books {
		b.line = slices.DeleteFunc(b.line, func(s *standing) bool {
			if s.process == r.c.process {
				r.turns.had[s.lane] = s
			}
			return s.process == r.c.process || dead[s.process[:8]]
		})
	}
	if len(dead) > 0 {
		r.untold()
	}
}

// untold excuses those who wait, of whom one may go earlier than it was told and
// isn't told now: it comes at the instant that it was.
func (r *referee) untold() {
	for _, o := range r.standing() {
		o.untold = max(o.untold, o.turn)
	}
}

// standing returns everybody else who waits.
func (r *referee) standing() []*standing {
	all := map[*standing]bool{}
	for _, b := range r.books {
		for _, s := range b.line {
			all[s] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b *standing) int {
		return cmp.Or(cmp.Compare(a.lane, b.lane), cmp.Compare(a.since, b.since), cmp.Compare(a.process, b.process))
	})
}

// came is when a run's first call came.
func (r *referee) since(run *run) int64 {
	if run.since > 0 {
		return whole64(run.since)
	}
	return r.now - whole64(run.age)
}

// letAhead counts those as use who go before a run: all who wait in higher
// lanes, and in its own those who came before it. A call came no earlier than
// those before it in its own queue.
func (r *referee) letAhead(run *run) {
	since := r.since(run)
	r.must(r.c.process == "" || r.came(r.c.process, run.lane, since), "4, order",
		"%q says that a call of lane %d came %d us ago, and none did", r.c.process, run.lane, r.now-since)
	if run.lane != r.turns.lane {
		r.turns.lane, r.turns.since = run.lane, since
	} else {
		r.turns.since = max(r.turns.since, since)
	}
	for _, s := range r.standing() {
		older := s.since < r.turns.since || s.since == r.turns.since && s.process <= r.c.process
		if r.turns.counted[s] || s.lane > run.lane || s.lane == run.lane && !older {
			continue
		}
		r.turns.counted[s] = true
		r.turns.void = min(r.turns.void, s.overdue(r.now))
		for i, m := range r.meters {
			if b := r.books[min(1, max(0, i-r.c.own+1))]; slices.Contains(b.line, s) {
				r.turns.ahead[i] += s.needs[m]
				r.turns.others[i] += s.needs[m]
			}
		}
		for i, b := range r.books {
			if s.ramps[i] && slices.Contains(b.line, s) {
				r.turns.aheadRamp[i]++
				r.turns.othersRamp[i]++
			}
		}
	}
}

// waits counts what a call of the claim lacks towards those behind it, and
// notes the first of each lane.
func (r *referee) waits(run *run, o outcome, cost []int64, lacks lackSet) {
	s := &standing{
		process: r.c.process, lane: run.lane, since: r.turns.since, turn: r.now + whole64(o.wait),
		needs: map[*meter]int64{}, budget: r.c.budget, books: r.books, meters: r.meters, own: r.c.own, cost: cost,
	}
	for i, m := range r.meters {
		s.before = append(s.before, r.turns.ahead[i]-r.turns.others[i])
		if lacks&(1<<i) != 0 {
			r.turns.ahead[i] += cost[i]
			s.needs[m] = cost[i]
		}
	}
	for i := range r.books {
		if lacks&(lacksBudget<<i) != 0 {
			r.turns.aheadRamp[i]++
			s.ramps[i] = true
		}
	}
	if r.turns.first[run.lane] == nil {
		r.turns.first[run.lane] = s
	}
}

// seat leaves the tickets of the claim's waiting calls, in the books of which
// they lack something.
func (r *referee) seat() {
	if r.c.process == "" {
		return
	}
	for _, s := range r.turns.first {
		r.shrunk(s)
		for i, b := range r.books {
			lacks := s.ramps[i]
			for _, m := range b.meters {
				lacks = lacks || s.needs[m] > 0
			}
			if lacks {
				b.line = append(b.line, s)
			}
		}
	}
}

// shrunk excuses those who wait behind a call that lacks less than it did, and
// waits on.
func (r *referee) shrunk(s *standing) {
	had := r.turns.had[s.lane]
	if had == nil || had.since != s.since {
		return
	}
	for m, units := range had.needs {
		if s.needs[m] >= units {
			continue
		}
		r.untold()
	}
}

// somebodyWaits reports whether a call of the lane or a higher one waits, in
// this process or another.
func (r *referee) somebodyWaits(lane int) bool {
	for of := range r.turns.first {
		if of <= lane {
			return true
		}
	}
	return slices.ContainsFunc(r.standing(), func(s *standing) bool { return s.lane <= lane })
}

// makeDue works out when each waiting call of the account may go, as things
// stand: its process has to come by then.
func (r *referee) makeDue() {
	all := map[*standing]bool{}
	for _, b := range r.shop.books {
		for _, s := range b.line {
			all[s] = true
		}
	}
	for s := range all {
		at := max(r.dueOf(s), s.untold)
		if s.books != [2]*book{r.shop.book(s.budget), r.shop.book("")} {
			s.due = 0 // the store has lost what it waits for
			continue
		}
		if s.forgiven() {
			at = max(at, s.due)
		}
		if s.due == 0 || at > r.now || s.due > r.now {
			s.due = at // else it could have gone since, and still can
		}
	}
}

// forgiven reports whether the call's share of a bucket may be forgiven what
// others draw before it: then its turn comes earlier than anybody could say,
// and nobody is told.
func (s *standing) forgiven() bool {
	for i, m := range s.meters {
		if s.cost[i] > 0 && m.bucket() && m.portions[s.lane].level > 0 {
			return true
		}
	}
	return false
}

// overdue is when others look again at a call that goes first: 5 and 50 ms after
// its turn, and when its ticket is void.
func (s *standing) overdue(now int64) int64 {
	if s.turn+5000 > now {
		return s.turn + 5000
	}
	if s.turn+50_000 > now {
		return s.turn + 50_000
	}
	return s.turn + stands + 1
}

// dueOf is when a call may go by what is known now, and at the latest when it was
// told to ask again: by then somebody before it may have turned out to be dead.
func (r *referee) dueOf(s *standing) int64 {
	at, open := r.now, r.now
	for _, b := range s.books {
		open = max(open, b.pause.until+b.pause.ramp, b.shut) // within the ramp it may ask earlier
	}
	for i, m := range s.meters {
		if s.cost[i] == 0 {
			continue
		}
		ahead, k := s.before[i], 0
		if i >= s.own {
			k = 1
		}
		for _, o := range s.books[k].line {
			if o.process != s.process && (o.lane < s.lane || o.lane == s.lane && o.since <= s.since) {
				ahead += o.needs[m]
			}
		}
		m = m.clone()
		m.advance(r.now)
		at = max(at, m.firstRoom(s.lane, r.now, ahead, s.cost[i]))
	}
	return max(open, min(at, s.turn))
}

// checkDue says whose turn has passed: the process didn't come for it.
func (r *referee) checkDue() {
	for _, b := range r.shop.books {
		for _, s := range b.line {
			late := r.now - s.due - r.allowed
			r.must(late <= 0 || s.due == 0 || r.excused(s.process, s.due), "4, room that is there is used",
				"a call of %v in lane %d of %q waits since %d us; it could go %d us ago, and its process didn't come (allowed: %d us)",
				s.cost, s.lane, s.process, r.now-s.since, r.now-s.due, r.allowed)
		}
	}
}
