package throttle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

// A callPlan is one call, and all that its caller will do.
type callPlan struct {
	proc, lane, budget int
	call               Call
	timeout            time.Duration // the caller's deadline
	leaves             time.Duration // when the caller leaves, if it still waits; 0: never
	hold               time.Duration
	end                int // keeps the estimate, cancels, or settles
	actual             Cost
	verdict            *Verdict
}

// drive lets the calls come. All choices are made here, by one goroutine.
func (f *fleetRun) drive() {
	r := f.plan.rand
	burst := 0
	for range f.plan.calls {
		if burst > 0 {
			burst--
		} else {
			time.Sleep(time.Duration(r.ExpFloat64() * float64(f.plan.gap)))
			if r.IntN(12) == 0 {
				burst = r.IntN(15)
			}
		}
		if f.failed() {
			return
		}
		f.mishap(r)
		c := f.plan.nextCall(r)
		p := f.procs[c.proc]
		p.callers.Go(func() { p.make(c) })
		f.rest()
	}
}

func (f *fleetRun) failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failure != ""
}

func (p *fleetPlan) nextCall(r *rand.Rand) callPlan {
	c := callPlan{proc: r.IntN(p.procs), lane: r.IntN(len(p.lanes)), budget: r.IntN(len(p.budgets))}
	account := r.IntN(p.accounts)
	c.call = Call{
		Key: Fingerprint(fmt.Sprintf("key%d-%d", account, r.IntN(p.keys))), Account: fmt.Sprint("account", account),
		Model: fmt.Sprintf("model%d-%d", c.budget, r.IntN(2)), Lane: lanes.Lane{Name: p.lanes[c.lane].Name},
		Cost: Cost{InputTokens: r.Int64N(20), OutputTokens: r.Int64N(3) * r.Int64N(10)},
	}
	if r.IntN(10) == 0 {
		c.call.Cost.Requests = 1 + r.Int64N(3)
	}
	c.timeout = time.Duration(1+r.IntN(20_000)) * time.Millisecond
	if p.impatient {
		c.timeout /= 20
	}
	if r.IntN(5) == 0 {
		c.leaves = time.Duration(1 + r.Int64N(int64(time.Second)))
	}
	c.hold = time.Duration(r.ExpFloat64() * float64(min(p.span, 2*time.Second)) / 2)
	c.end = r.IntN(6)
	c.actual = Cost{InputTokens: r.Int64N(40), OutputTokens: r.Int64N(20) - 1}
	if r.IntN(8) == 0 {
		c.actual.InputTokens *= 10
	}
	if p.verdicts && r.IntN(15) == 0 {
		c.verdict = p.someVerdict(r)
	}
	return c
}

func (p *fleetPlan) someVerdict(r *rand.Rand) *Verdict {
	v := &Verdict{Class: Class(r.IntN(8)), Wait: time.Duration(r.Int64N(int64(p.pausing.Max)))}
	if v.Class == Busy || v.Class == Overloaded {
		v.Scope = Scope(r.IntN(3))
	}
	return v
}

// make makes one call, as its caller.
func (p *fleetProc) make(c callPlan) {
	ctx, cancel := context.WithTimeout(context.Background(), c.timeout)
	defer cancel()
	if c.leaves > 0 {
		leave := time.AfterFunc(c.leaves, cancel)
		defer leave.Stop()
	}
	if p.comes(c) {
		return
	}
	came := time.Now()
	permit, err := p.th.Acquire(ctx, c.call)
	if p.dead() {
		return
	}
	p.returned(c, came, permit, err)
	if err != nil {
		return
	}
	s := p.send(c, permit)
	time.Sleep(c.hold)
	p.end(c, permit, s)
}

// comes notes that a call comes, and reports whether the process is dead.
func (p *fleetProc) comes(c callPlan) bool {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.arrived[c.lane] = append(p.arrived[c.lane], int64(p.f.store.now()))
	return p.killed
}

// returned checks what Acquire said.
func (p *fleetProc) returned(c callPlan, came time.Time, permit Permit, err error) {
	f := p.f
	took := time.Since(came)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.admits++
		f.note(fleetEvent{at: f.store.now(), proc: p.n, text: fmt.Sprintf("lane %d: a call of %+v goes after %v", c.lane, c.call.Cost, took)})
		return
	}
	f.denials++
	f.note(fleetEvent{at: f.store.now(), proc: p.n, text: fmt.Sprintf("lane %d: after %v %v", c.lane, took, err)})
	var e *DeniedError
	if !errors.As(err, &e) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		f.fail("that Acquire says why", "%v", err)
	}
	if most := c.timeout + lastMoment + 2*f.plan.delay + 50*time.Millisecond; took > most && !f.real {
		f.fail("4, waits are honest", "a call with a deadline in %v was denied after %v: %v", c.timeout, took, err)
	}
}

// A sentCall is what a call was charged, and where.
type sentCall struct {
	process string
	at      int64
	need    []int64
	local   bool
}

// send notes a call that goes out.
func (p *fleetProc) send(c callPlan, permit Permit) sentCall {
	info, _ := permit.look()
	s := sentCall{process: info.q.process, at: int64(info.at) - p.shift, need: p.f.plan.units(c.budget, c.call.Cost), local: info.local}
	if s.local {
		s.at = -1
	}
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	add(p.f.referee.ledger.sent, s.process, s.at, s.need)
	if info.lease != nil {
		p.f.spent(p, c, s)
	}
	return s
}

// end does what the caller does once the vendor has answered.
func (p *fleetProc) end(c callPlan, permit Permit, s sentCall) {
	if p.dead() {
		return
	}
	p.answer(c, permit)
	cost := c.call.Cost
	switch c.end {
	case 0, 1:
		permit.Done()
	case 2:
		permit.Cancel()
		cost = Cost{}
	default:
		permit.Settle(c.actual)
		cost.InputTokens = c.actual.InputTokens
		if c.actual.OutputTokens >= 0 {
			cost.OutputTokens = c.actual.OutputTokens
		}
	}
	if p.dead() {
		return
	}
	actual := p.f.plan.units(c.budget, cost)
	if c.end == 2 {
		clear(actual)
	}
	more := make([]int64, len(actual))
	for i := range actual {
		actual[i] -= s.need[i]
		more[i] = max(0, actual[i])
	}
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	add(p.f.referee.ledger.more, s.process, s.at, more)
	add(p.f.referee.ledger.sent, s.process, s.at, actual)
}

// units is a cost by limit of a budget and the account.
func (p *fleetPlan) units(budget int, c Cost) []int64 {
	var units []int64
	for _, l := range append(append([]Limit(nil), p.budgets[budget]...), p.account...) {
		if l.Unit == UnitTokens {
			units = append(units, c.InputTokens+c.OutputTokens)
		} else {
			units = append(units, max(1, c.Requests))
		}
	}
	return units
}
