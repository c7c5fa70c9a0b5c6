package throttle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// What befalls a fleet: processes are killed, the store forgets, vendors say
// that it is enough.

// mishap kills a process or has the store forget something, now and then.
func (f *fleetRun) mishap(r *rand.Rand) {
	if f.plan.kills && r.IntN(f.plan.calls) == 0 {
		f.kill(f.procs[r.IntN(len(f.procs))])
	}
	if f.plan.verdicts && r.IntN(80) == 0 {
		f.operate(r)
	}
	if f.plan.forgets && r.IntN(f.plan.calls/3+1) == 0 {
		f.forget(r)
	}
}

// kill ends a process: from now on nothing of it is sent or heard.
func (f *fleetRun) kill(p *fleetProc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.killed = true
	f.note(fleetEvent{at: f.store.now(), proc: p.n, text: "is killed"})
}

// operate has an operator pause something, or end a pause.
func (f *fleetRun) operate(r *rand.Rand) {
	p, scope := f.procs[r.IntN(len(f.procs))], ScopeModel+Scope(r.IntN(2))
	call := f.plan.nextCall(r).call
	length := time.Duration(1 + r.Int64N(int64(f.plan.pausing.Max)))
	resumes := r.IntN(2) == 0
	p.callers.Go(func() {
		if p.dead() {
			return
		}
		p.f.tell(p.n, "an operator pauses %v of %s for %v, or ends that: %v", scope, call.Model, length, resumes)
		if resumes {
			_ = p.th.Resume(context.Background(), call, scope)
		} else {
			_ = p.th.Pause(context.Background(), call, scope, length)
		}
	})
}

// forget loses a record of the store, or all of an account.
func (f *fleetRun) forget(r *rand.Rand) {
	account := fmt.Sprint("@account", r.IntN(f.plan.accounts))
	budget, key := fmt.Sprint("budget", r.IntN(len(f.plan.budgets))), Fingerprint(fmt.Sprintf("key%s-%d", account[8:], r.IntN(f.plan.keys)))
	what := r.IntN(4)
	if what == 1 || what == 2 {
		budget = ""
	}
	if what < 2 {
		key = ""
	}
	whole := what%2 == 1
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note(fleetEvent{at: f.store.now(), proc: -1, text: fmt.Sprintf("the store forgets of %s: budget %q, key %q, all that is the account's: %v", account, budget, key, whole)})
	f.store.lose(account, budget, whole, key)
	f.referee.forget(account, budget, whole, key)
}

// answer says what the vendor says to a call.
func (p *fleetProc) answer(c callPlan, permit Permit) {
	v := c.verdict
	if permit.Probe() {
		v = p.probeAnswer()
	}
	if v == nil {
		return
	}
	p.f.tell(p.n, "the vendor said %+v", *v)
	said := time.Now()
	permit.Answered(*v)
	if (v.Class == Busy || v.Class == Overloaded) && v.Scope != ScopeNone && !p.f.plan.forgets && !p.f.real {
		go p.awaitPause(c, *v, said)
	}
}

// probeAnswer is what becomes of a probe; nil: nobody ever hears.
func (p *fleetProc) probeAnswer() *Verdict {
	p.f.mu.Lock()
	p.probes++
	r := rand.New(rand.NewPCG(p.f.plan.seed, uint64(p.n)<<32+p.probes))
	calm := p.f.calm
	p.f.mu.Unlock()
	if calm {
		return &Verdict{} // and the probing ends
	}
	class := []Class{OK, OK, KeyRefused, CreditExhausted, BadRequest, ServerError, Overloaded, Busy}[r.IntN(8)]
	if r.IntN(8) == 0 {
		return nil
	}
	return &Verdict{Class: class, Scope: ScopeKey, Wait: time.Duration(r.Int64N(int64(2 * time.Second)))}
}

// sendProbe is the throttle's own probe of a key.
func (p *fleetProc) sendProbe(ctx context.Context, key string) error {
	account, _, _ := strings.Cut(strings.TrimPrefix(key, "key"), "-")
	permit, err := p.th.Acquire(ctx, Call{Key: Fingerprint(key), Account: "account" + account, Model: "model0-0"})
	if err != nil {
		return err
	}
	c := callPlan{call: Call{Cost: Cost{Requests: 1}}}
	if p.dead() {
		return nil
	}
	s := p.send(c, permit)
	p.end(c, permit, s)
	return nil
}

// awaitPause checks that a pause reaches the store: at once while that is
// there, and else once it is back.
func (p *fleetProc) awaitPause(c callPlan, v Verdict, said time.Time) {
	f := p.f
	length := f.plan.pausing.Length(v.Wait)
	budget := fmt.Sprint("budget", c.budget)
	if v.Scope == ScopeKey {
		budget = ""
	}
	for time.Since(said) < length-time.Second {
		f.mu.Lock()
		until := f.referee.shopOf("@" + c.call.Account).book(budget).pause.until
		killed, lostAt, resumed := p.killed, p.lostAt, f.referee.resumed
		f.mu.Unlock()
		if killed || resumed >= said.UnixMicro() || until >= said.Add(length).UnixMicro()-late {
			return
		}
		if time.Since(said) > time.Second && f.store.now()-lostAt > 0.5e6 && !p.th.outage.down("") {
			f.mu.Lock()
			f.fail("7, pauses", "process %d was told %+v %v ago, and the store knows of no pause that long", p.n, v, time.Since(said))
			f.mu.Unlock()
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// spent checks a call that went by a lease: the lease was charged, is young
// enough, and nothing is paused. f.mu is held.
func (f *fleetRun) spent(p *fleetProc, c callPlan, s sentCall) {
	l, now := f.referee.ledger, int64(f.store.now())
	for i, sent := range l.sent[s.process][s.at] {
		if most := nth(l.gross[s.process][s.at], i) + nth(l.more[s.process][s.at], i); sent > most {
			f.fail("11, leases", "%d units of limit %d were sent by what was charged at %d, which was %d", sent, i, s.at, most)
		}
	}
	shortest := time.Duration(1 << 62)
	for _, l := range append(append([]Limit(nil), f.plan.budgets[c.budget]...), f.plan.account...) {
		shortest = min(shortest, l.Per)
	}
	if f.real {
		return
	}
	if age := f.plan.lease.Age(shortest); now-s.at > age.Microseconds() {
		f.fail("11, leases", "a call went by a lease that was charged %d us ago and may be trusted for %v", now-s.at, age)
	}
	shop := f.referee.shopOf("@" + c.call.Account)
	for _, name := range []string{"", fmt.Sprint("budget", c.budget)} {
		b := shop.book(name).pause
		if b.until > now && now-b.began > p.noticed.Microseconds()+1000 && now-int64(p.lostAt) > 5e6 {
			f.fail("11, leases", "a call went by a lease %d us after pause %q began", now-b.began, name)
		}
	}
}
