package throttle

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Acquire decides about a call. A nil error means that it may be sent now; the
// permit must then be ended by Settle, Done or Cancel. Acquire waits for room
// if the call's lane may wait, no longer than the context allows, and returns
// at once where no wait would help.
//
// It returns a *DeniedError for a call that isn't let through; an error that
// matches ErrInvalidCall for a negative cost or an unknown lane; and the
// context's own error where the context had already ended. In each case
// nothing is charged. In a dry run the only denials are those of a closed
// throttle, and a context that ends meanwhile gives its own error.
func (t *Throttle) Acquire(ctx context.Context, call Call) (Permit, error) {
	t.mustBeMade(ctx, "Acquire")
	if err := ctx.Err(); err != nil {
		return Permit{}, err
	}
	if p, ok := t.spendAtOnce(ctx, &call); ok {
		return p, nil
	}
	a, err := t.newAsk(ctx, call)
	if err != nil {
		return Permit{}, err
	}
	if e := a.tooLarge(); e != nil {
		return t.refuseAtOnce(a, e)
	}
	if e := a.refusedHere(ctx); e != nil {
		return t.refuseAtOnce(a, e)
	}
	return t.proceed(ctx, a)
}

// proceed brings an ask that isn't refused at once to its queue, or its leases.
func (t *Throttle) proceed(ctx context.Context, a *ask) (Permit, error) {
	if a.q.gate != nil {
		return t.proceedGated(ctx, a)
	}
	if p, ok := t.spend(a); ok {
		return p, nil
	}
	if e := a.q.enter(a); e != nil {
		return t.refuseAtOnce(a, a.tooLate(ctx, e))
	}
	return a.wait(ctx)
}

// askPool has asks that no queue ever had, to be used again.
var askPool = sync.Pool{New: func() any { return new(ask) }}

// refuseAtOnce is refuse for an ask that is in no queue, waits at no gate and
// won't: nobody else knows it.
func (t *Throttle) refuseAtOnce(a *ask, e *DeniedError) (Permit, error) {
	p, err := t.refuse(a, e, 0)
	*a = ask{}
	askPool.Put(a)
	return p, err
}

// proceedGated lets a call through the gate of a budget without limits. When
// they have been learned meanwhile, it goes by those.
func (t *Throttle) proceedGated(ctx context.Context, a *ask) (Permit, error) {
	if e := a.q.gate.enter(ctx, a); e != nil {
		return t.refuse(a, e, 0)
	}
	if a.q.retired.Load() {
		a.gate.leave(false)
		to, _ := t.queueFor(&a.call)
		b := a.in(to)
		b.gate = nil
		if e := b.tooLarge(); e != nil {
			return t.refuse(b, e, 0)
		}
		return t.proceed(ctx, b)
	}
	if e := a.q.enter(a); e != nil {
		a.gate.leave(false)
		return t.refuse(a, a.tooLate(ctx, e), 0)
	}
	p, err := a.wait(ctx)
	if err != nil || p.DryRun() {
		a.gate.leave(false)
	}
	return p, err
}

// newAsk resolves what the call leaves open: its lane, budget and cost.
func (t *Throttle) newAsk(ctx context.Context, call Call) (*ask, error) {
	lane, err := t.laneOf(ctx, &call)
	if err != nil {
		return nil, err
	}
	if field, n := call.Cost.negative(); field != "" {
		return nil, fmt.Errorf("%w: Cost.%s is %d, want 0 or more", ErrInvalidCall, field, n)
	}
	if call.Cost.Requests == 0 {
		call.Cost.Requests = 1
	}
	q, id := t.queueFor(&call)
	a := askPool.Get().(*ask)
	a.q, a.call, a.id, a.lane, a.arrived = q, call, id, lane, time.Now()
	if q.turns != nil {
		a.call.Tenant = call.tenantOf(ctx)
		a.takeRow()
	}
	a.need = q.needsIn(a.few[:0], call.Cost, a.tenant)
	a.setDeadline(ctx, t.cfg.Lanes[lane].Wait)
	return a, nil
}

// needs is the cost by limit.
func (q *queue) needs(c Cost, tenant string) []float64 {
	return q.needsIn(make([]float64, 0, len(q.all)), c, tenant)
}

// fewLimits is how many limits a queue seldom has more of; needsIn then needs
// no memory beside an array of that size.
const fewLimits = 8

// needsIn appends the cost, with its price, by limit: of those that each tenant
// has of its own only where there is one.
func (q *queue) needsIn(need []float64, c Cost, tenant string) []float64 {
	if q.sells {
		c = c.priced(q.price)
	}
	for i := range q.all {
		n := 1.0
		if !q.all[i].inFlight() {
			n = c.units(q.all[i].unit)
		}
		if tenant == "" && i >= len(q.limits) {
			n = 0
		}
		need = append(need, n)
	}
	return need
}

// tooLarge refuses a cost above its lane's ceiling, which no wait would help.
func (a *ask) tooLarge() *DeniedError {
	for i := range a.q.all {
		if s := &a.q.all[i]; a.need[i] > s.most(a.lane) {
			e := a.denial(ErrTooLarge)
			e.Limit = s.text
			return e
		}
	}
	return nil
}

// refusedHere refuses a call whose key is known to be refused. Nobody waits
// for a probe; a call that comes when one is due may become it.
func (a *ask) refusedHere(ctx context.Context) *DeniedError {
	if m := probeMarkOf(ctx, a.call.Key); m != nil {
		a.holds = m.take()
	}
	k := a.q.a.keyNow(a.call.Key)
	if !k.refused || a.holds != "" {
		return nil
	}
	if left := time.Until(k.next); left > 0 || a.q.t.sendsProbes() {
		return a.keyDenial(k, left)
	}
	a.mayProbe = true
	return nil
}

// keyDenial is the error for a refused key.
func (a *ask) keyDenial(k heldKey, left time.Duration) *DeniedError {
	reason := ErrKeyRefused
	if k.verdict.Class == CreditExhausted {
		reason = ErrCreditExhausted
	}
	e := a.denial(reason)
	e.Verdict, e.RetryAfter = k.verdict, max(0, left)
	return e
}

// wait returns once the queue has decided, or the caller or its patience has
// run out.
func (a *ask) wait(ctx context.Context) (Permit, error) {
	var expired <-chan time.Time
	for {
		select {
		case r := <-a.answers:
			switch r.kind {
			case replyGo:
				return a.q.t.admit(a, r), nil
			case replyDenied:
				if r.moved != nil {
					a = r.moved
				}
				return a.q.t.refuse(a, a.tooLate(ctx, r.err), r.key.gen)
			case replyMoved:
				return r.moved.wait(ctx)
			}
			if a.deadline.IsZero() {
				continue
			}
			// The store named a turn that comes in time, perhaps at the last
			// moment: leave it room to arrive.
			timer := time.NewTimer(time.Until(a.deadline) + lastMoment)
			defer timer.Stop()
			expired = timer.C
		case <-expired:
			if e, left := a.q.giveUp(a); left {
				return a.q.t.refuse(a, a.tooLate(ctx, e), 0)
			}
			expired = nil
		case <-ctx.Done():
			e := a.q.abandon(a)
			if a.q.dry {
				return Permit{}, ctx.Err() // nobody denies it, and it won't be sent
			}
			e.cause = ctx.Err()
			return Permit{}, a.q.t.deny(a, e)
		}
	}
}

// lastMoment is how long after its deadline a waiting call still takes a turn
// that was due by then.
const lastMoment = 2 * time.Millisecond

// Check returns what Acquire would say, and spends nothing: nil where the call
// would go at once, else the *DeniedError of a call that may not wait. In a dry
// run, where every call goes, that is nil.
func (t *Throttle) Check(ctx context.Context, call Call) error {
	t.mustBeMade(ctx, "Check")
	if err := ctx.Err(); err != nil {
		return err
	}
	a, err := t.newAsk(ctx, call)
	if err != nil {
		return err
	}
	if t.closed.Load() {
		return a.denial(ErrClosed)
	}
	if a.q.dry {
		return nil
	}
	if e := a.tooLarge(); e != nil {
		return e
	}
	if k := a.q.a.keyNow(a.call.Key); k.refused {
		return a.keyDenial(k, time.Until(k.next))
	}
	a.noted = true
	if a.q.leases.covers(a) {
		return nil
	}
	if a.q.gate.shut() {
		e := a.denial(ErrBudget)
		e.Limit = gateText
		return e
	}
	a.deadline = a.arrived
	b := &batch{claim: claim{
		account: a.q.a.id, budget: a.q.id, limits: a.q.all, own: a.q.own, perTenant: len(a.q.all) - len(a.q.limits),
		process: a.q.process, dry: true,
	}}
	a.q.mu.Lock()
	b.claim.settles = slices.Clone(a.q.settles) // as if they had arrived
	b.nameTenants()
	for lane := range a.lane + 1 {
		b.hold(lane, a.q.aheadOfOneLocked(b, a, lane)) // those who wait go first
	}
	b.add(a, time.Now())
	a.q.mu.Unlock()
	ans := t.decide(a.q, b)
	if o := ans.outcomes[len(ans.outcomes)-1][0]; o.code != granted {
		a.q.mu.Lock()
		defer a.q.mu.Unlock()
		return a.q.explain(a, o, &b.claim, &ans)
	}
	return nil
}

// Fit returns call.Cost plus as much of a guess as the call's lane can ever
// have: an estimate that is only guessed is clamped to the lane's ceiling,
// where a stated one is refused as too large. Its tokens are first brought
// nearer to what guessed calls of the budget really cost, by what Permit.Learn
// has taught. It decides nothing and does no I/O.
func (t *Throttle) Fit(ctx context.Context, call Call, guess Cost) Cost {
	t.mustBeMade(ctx, "Fit")
	lane, err := t.laneOf(ctx, &call)
	if err != nil {
		return call.Cost
	}
	q, _ := t.queueFor(&call)
	guess = q.better(guess)
	limits := q.limits
	if q.turns != nil && call.tenantOf(ctx) != "" {
		limits = q.all
	}
	for i := range limits {
		if s := &limits[i]; s.unit == UnitMicroUSD {
			guess = q.price.fitMoney(call.Cost, guess, s.most(lane))
		}
	}
	fitted := call.Cost.plus(guess)
	for i := range limits {
		fitted = fitted.clampTo(limits[i].unit, limits[i].most(lane), call.Cost)
	}
	return fitted
}

// clampTo lowers the fields behind a unit until they make at most most, but
// none below what floor states.
func (c Cost) clampTo(u Unit, most float64, floor Cost) Cost {
	over := func() int64 { return int64(max(0, c.units(u)-most)) }
	lower := func(field *int64, floor int64) {
		*field = max(min(*field, costCap)-over(), floor)
	}
	switch u {
	case UnitTokens:
		lower(&c.OutputTokens, floor.OutputTokens)
		lower(&c.InputTokens, floor.InputTokens)
	case UnitInputTokens:
		lower(&c.InputTokens, floor.InputTokens)
	case UnitOutputTokens:
		lower(&c.OutputTokens, floor.OutputTokens)
	case UnitPoints:
		lower(&c.Points, floor.Points)
	}
	c.CachedTokens = min(c.CachedTokens, c.InputTokens)
	return c
}
