package headgateotel

import (
	"context"
	"time"

	"github.com/headgate-go/headgate/throttle"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

const (
	// maxLimits is how many kinds of limits are told apart: vendors name windows of
	// learned ones.
	maxLimits = 100
	// patience is how long a collection waits for the store.
	patience = 2 * time.Second
)

// A laneOf is one lane of a budget.
type laneOf struct{ budget, lane string }

// A limitOf is one limit of a budget.
type limitOf struct{ budget, limit, scope string }

// A use is how much of a limit is used.
type use struct{ used, amount int64 }

// fuller reports whether more of u than of v is used, for its amount.
func (u use) fuller(v use) bool {
	return float64(u.used)*float64(v.amount) > float64(v.used)*float64(u.amount)
}

// A factorOf is what a budget's guesses of a kind of tokens are multiplied by.
type factorOf struct{ budget, tokens string }

// A picture is a Status by attributes. An instrument may be given only one figure for
// each, but the budgets of many accounts and models share a name.
type picture struct {
	waiting, leased map[laneOf]int64
	limits          map[limitOf]use
	pauses          map[string]time.Duration
	factors         map[factorOf]float64
}

// show gives the throttle's state to the observer.
func (m *Metrics) show(ctx context.Context, th *throttle.Throttle, g *gauges, o metric.Observer) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	s, err := th.Status(ctx)
	if err != nil {
		otel.Handle(err)
	}
	p := picture{map[laneOf]int64{}, map[laneOf]int64{}, map[limitOf]use{}, map[string]time.Duration{}, map[factorOf]float64{}}
	for i := range s.Budgets {
		m.add(&p, &s.Budgets[i])
	}
	p.show(g, o)
	o.ObserveInt64(g.refused, int64(len(s.Keys)))
	outage := int64(0)
	if s.Outage {
		outage = 1
	}
	o.ObserveInt64(g.outage, outage)
}

// add adds a budget of one account to the picture.
func (m *Metrics) add(p *picture, b *throttle.BudgetStatus) {
	name := m.budgets.bounded(b.Budget)
	for lane, n := range b.WaitingBy {
		p.waiting[laneOf{name, lane}] += int64(n)
	}
	for lane, n := range b.LeasedBy {
		p.leased[laneOf{name, lane}] += n
	}
	p.pauses[name] = max(p.pauses[name], b.Paused)
	for tokens, factor := range map[string]float64{"input": b.GuessInput, "output": b.GuessOutput} {
		if factor > 0 { // 0: nothing was learned
			p.factors[factorOf{name, tokens}] = max(p.factors[factorOf{name, tokens}], factor)
		}
	}
	for _, l := range b.Limits {
		id := limitOf{name, m.limits.bounded(kindOf(l)), "budget"}
		if l.Account {
			id.scope = "account"
		}
		u := use{l.Used, l.Amount}
		if before, ok := p.limits[id]; !ok || u.fuller(before) {
			p.limits[id] = u
		}
		for _, lane := range l.Lanes { // those without calls are shown, too
			p.waiting[laneOf{name, lane.Lane}] += 0
			p.leased[laneOf{name, lane.Lane}] += 0
		}
	}
}

// kindOf names a limit without its amount, which may be learned and so change.
func kindOf(l throttle.LimitStatus) string {
	if l.Per == 0 {
		return l.Unit.String()
	}
	return l.Unit.String() + " per " + l.Per.String()
}

// show gives the picture to the observer.
func (p *picture) show(g *gauges, o metric.Observer) {
	for id, n := range p.waiting {
		o.ObserveInt64(g.waiting, n, metric.WithAttributes(budgetKey.String(id.budget), laneKey.String(id.lane)))
	}
	for id, n := range p.leased {
		o.ObserveInt64(g.leased, n, metric.WithAttributes(budgetKey.String(id.budget), laneKey.String(id.lane)))
	}
	for budget, left := range p.pauses {
		o.ObserveFloat64(g.pause, left.Seconds(), metric.WithAttributes(budgetKey.String(budget)))
	}
	for id, factor := range p.factors {
		o.ObserveFloat64(g.factor, factor, metric.WithAttributes(budgetKey.String(id.budget), tokensKey.String(id.tokens)))
	}
	for id, u := range p.limits {
		set := metric.WithAttributes(budgetKey.String(id.budget), limitKey.String(id.limit), scopeKey.String(id.scope))
		o.ObserveInt64(g.used, u.used, set)
		o.ObserveInt64(g.amount, u.amount, set)
	}
}
