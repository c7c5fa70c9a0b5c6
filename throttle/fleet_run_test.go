package throttle

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A fleetRun is one fleet at work, in a bubble.
type fleetRun struct {
	plan     *fleetPlan
	store    fleetBackend
	real     bool // in real time, and not in a bubble
	procs    []*fleetProc
	released chan struct{} // the fleet is over

	mu      sync.Mutex // claims are applied and judged one after another
	referee *referee
	history []fleetEvent
	steps   int
	claims  int
	failure string
	calm    bool // nothing is lost any more
	admits  int
	denials int
}

// A fleetProc is one process of it.
type fleetProc struct {
	f       *fleetRun
	n       int
	th      *Throttle
	shift   int64         // microseconds that its clock of the store is ahead
	noticed time.Duration // how late it hears notices
	callers sync.WaitGroup

	// Guarded by f.mu:
	killed  bool
	lostAt  float64   // when a message of it was last lost
	notes   uint64    // claims without a number
	arrived [][]int64 // by lane: when calls came
	probes  uint64
	notices uint64
	told    map[string]*knowledge // by queue: the last answer that it heard
}

func newFleetRun(plan *fleetPlan, store fleetBackend) *fleetRun {
	f := &fleetRun{plan: plan, store: store, released: make(chan struct{})}
	f.referee = &referee{
		shops: map[string]*shop{}, ledger: newLedgerBook(),
		shares: plan.shares, excused: f.excused, known: f.known, came: f.came,
		limits: func(budget string) ([]Limit, []Limit) {
			for i := range plan.budgets {
				if budget == fmt.Sprint("budget", i) {
					return plan.budgets[i], plan.account
				}
			}
			return nil, plan.account
		},
		forgetful: plan.forgets,
		// A claim under way, one for what was announced meanwhile, and one more
		// where the store has forgotten.
		allowed: 5000 + 6*plan.delay.Microseconds(),
	}
	for n := range plan.procs {
		p := &fleetProc{
			f: f, n: n, shift: (plan.rand.Int64N(2001) - 1000) * time.Hour.Microseconds(),
			noticed: time.Duration(plan.rand.Int64N(int64(plan.delay))), lostAt: -1e12, told: map[string]*knowledge{}, arrived: make([][]int64, len(plan.lanes)),
		}
		if plan.forgets {
			p.shift = 0 // it would tell the store of windows of its own
		}
		f.procs = append(f.procs, p)
		c := plan.config(&fleetStore{p})
		c.Logger = slog.New(slog.DiscardHandler)
		if plan.sends {
			c.Probe.Send = p.sendProbe
		}
		th, err := New(c)
		if err != nil {
			panic(err)
		}
		p.th = th
		// Left to chance, these would make each run of a seed another one.
		th.id = fmt.Sprint("process", n)
		th.outage.jitter = 0
		th.outage.whole = !plan.ages()
	}
	return f
}

// apply brings a claim to the store, and what became of it to the referee. It
// returns also what the process knows once it hears the answer.
func (f *fleetRun) apply(p *fleetProc, c *claim) (ans answer, tells *knowledge, err error) {
	if c.budget == retestBudget {
		ans, err = f.store.claim(context.Background(), c)
		return ans, nil, err
	}
	f.mu.Lock()
	var now float64
	var tell func()
	ans, now, tell, err = f.store.decided(c)
	if f.failure == "" {
		f.note(fleetEvent{at: now, proc: p.n, claim: c, ans: ans, err: err})
		f.claims++
		f.judge(c, int64(now), &ans, err)
		if f.failure == "" && f.plan.forgets && err == nil && !c.dry {
			tells = f.referee.tells(c, &ans)
		}
	}
	f.mu.Unlock()
	tell()
	return ans, tells, err
}

// judge has a claim judged, and looks at all that lanes may still draw.
func (f *fleetRun) judge(c *claim, now int64, ans *answer, err error) {
	defer f.caught()
	if c.dry {
		return
	}
	f.referee.judge(c, now, ans, err)
	if err != nil {
		return
	}
	f.compareRooms(&claim{account: c.account, budget: c.budget, limits: c.limits, own: c.own, dry: true})
}

// caught turns a panic of the referee into a failure.
func (f *fleetRun) caught() {
	switch v := recover().(type) {
	case nil:
	case violation:
		f.fail(v.rule, "%s", v.text)
	default:
		f.fail("that the test itself works", "%v\n%s", v, debug.Stack())
	}
}

// compareRooms checks what a look at the store says of every lane and limit.
func (f *fleetRun) compareRooms(look *claim) {
	r := f.referee
	seen, at, _, err := f.store.decided(look)
	r.must(err == nil, "looks", "%v", err)
	now := int64(at)
	r.open(look, now)
	for i, m := range r.meters {
		for lane := range m.portions {
			r.must(seen.lanes[i][lane] == float64(max(0, m.free(lane, now))), "1 to 3, sums",
				"limit %d (%v) has %v left for lane %d by the store, by all that was charged and given back it is %d",
				i, m.Limit, seen.lanes[i][lane], lane, m.free(lane, now))
		}
	}
}

// excused reports whether a process has a reason to come late: it is dead, or
// something of it was lost before and it may take the store for lost.
func (f *fleetRun) excused(process string, due int64) bool {
	p := f.procOf(process)
	return p.killed || p.lostAt > float64(due)-30e6
}

// came reports whether a call of a process may have come at an instant, by its
// own word: that is as late as its messages were slow.
func (f *fleetRun) came(process string, lane int, at int64) bool {
	p := f.procOf(process)
	for _, a := range slices.Backward(p.arrived[lane]) {
		if late := at - a; late >= -1000 && late <= 50_000+3*f.plan.delay.Microseconds() {
			return true
		}
	}
	return f.plan.lossy || f.plan.sends || f.real
}

func (f *fleetRun) procOf(process string) *fleetProc {
	return f.procs[slices.IndexFunc(f.procs, func(p *fleetProc) bool { return p.th.id == owner(process) })]
}

// rest lets everybody do what there is to do now.
func (f *fleetRun) rest() {
	if !f.real {
		synctest.Wait()
	}
}

func (p *fleetProc) dead() bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	return p.killed
}

// heard notes what a process knows now.
func (p *fleetProc) heard(c *claim, k *knowledge) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	if k != nil && c.process != "" {
		p.told[c.process] = k
	}
}

// known is what a queue was last told.
func (f *fleetRun) known(process string) *knowledge {
	for _, p := range f.procs {
		if k := p.told[process]; k != nil {
			return k
		}
	}
	return nil
}

// runFleet runs the fleet of a seed and returns it. It fails the test where a
// rule was broken.
func runFleet(t *testing.T, seed uint64) *fleetRun {
	var f *fleetRun
	synctest.Test(t, func(t *testing.T) {
		f = newFleetRun(planFleet(seed, fleetWindows), fleetMemory{NewMemoryStore()})
		f.drive()
		f.settleDown()
		if f.failure != "" {
			t.Error(f.failure)
		}
	})
	return f
}
