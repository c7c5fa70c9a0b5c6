package throttle

import (
	"fmt"
	"math"
)

// Price is what calls of a budget cost, in US dollars; the first three are per
// million tokens. It turns a call's estimate and usage into money for Dollars
// limits. The zero Price is none: such limits are charged Cost.MicroUSD as the
// caller states it.
type Price struct {
	Input   float64 // per million input tokens
	Cached  float64 // per million input tokens read from a cache; 0: as Input
	Output  float64 // per million output tokens
	PerCall float64 // per request
}

// validate reports the first price that is no amount of money.
func (p Price) validate() error {
	for _, f := range []struct {
		name  string
		value float64
	}{{"Input", p.Input}, {"Cached", p.Cached}, {"Output", p.Output}, {"PerCall", p.PerCall}} {
		// The negated form also refuses NaN.
		if !(f.value >= 0 && f.value <= 1e6) {
			return fmt.Errorf("%s is %v, want 0 to a million dollars", f.name, f.value)
		}
	}
	return nil
}

// of is the price of a cost in millionths of a dollar, rounded up. Dollars per
// million tokens are millionths of a dollar per token.
func (p Price) of(c Cost) int64 {
	cached := min(c.CachedTokens, c.InputTokens)
	cachedPrice := p.Cached
	if cachedPrice == 0 {
		cachedPrice = p.Input
	}
	micro := float64(float64(c.InputTokens-cached)*p.Input) + float64(float64(cached)*cachedPrice) +
		float64(float64(c.OutputTokens)*p.Output) + float64(float64(c.Requests)*p.PerCall*1e6)
	return int64(min(math.Ceil(micro), costCap))
}

// priced returns the cost with its price, where it states none of its own.
func (c Cost) priced(p Price) Cost {
	if c.MicroUSD == 0 && p != (Price{}) {
		c.MicroUSD = p.of(c)
	}
	return c
}

// settledPriced returns what stands of a priced estimate once actual is known.
// A vendor that counted no tokens at all billed nothing.
func (c Cost) settledPriced(actual Cost, p Price) Cost {
	stands := c.settledOver(actual)
	if p == (Price{}) {
		return stands
	}
	used := stands.InputTokens > 0 || stands.OutputTokens > 0
	if actual.MicroUSD < 0 || actual.MicroUSD == 0 && used {
		stands.MicroUSD = c.MicroUSD
		return stands.priced(p)
	}
	return stands
}

// fitMoney shrinks what a guess adds to a stated cost until its price is at
// most most.
func (p Price) fitMoney(stated, guess Cost, most float64) Cost {
	base, full := float64(p.of(stated)), float64(p.of(stated.plus(guess)))
	if p == (Price{}) || full <= most || full <= base {
		return guess
	}
	part := max(0, (most-base)/(full-base))
	shrink := func(n int64) int64 { return int64(float64(n) * part) }
	guess.InputTokens, guess.OutputTokens = shrink(guess.InputTokens), shrink(guess.OutputTokens)
	guess.CachedTokens = min(guess.CachedTokens, guess.InputTokens)
	return guess
}
