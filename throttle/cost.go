package throttle

import "math"

// A Cost is what a call spends. To Acquire it is the estimate, where Requests
// 0 counts as 1 and no field may be negative. To Settle it is what the call
// really cost, where a negative field is unknown and keeps its estimate, and
// Requests 0 keeps the request that was charged.
type Cost struct {
	Requests int64
	// InputTokens are all input tokens, those read from a cache included.
	InputTokens int64
	// CachedTokens are those of InputTokens that the vendor read from its
	// cache at a lower price. They change no token count.
	CachedTokens int64
	OutputTokens int64
	Points       int64
	MicroUSD     int64
}

// costCap is where huge costs saturate: above every possible limit, and small
// enough to be added and multiplied without overflow.
const costCap = MaxAmount * 2

// units returns how much of a limit's unit the cost is. Each field saturates at
// costCap, so the sum of two is exact.
func (c *Cost) units(u Unit) float64 {
	switch u {
	case UnitRequests:
		return saturated(c.Requests)
	case UnitTokens:
		return saturated(c.InputTokens) + saturated(c.OutputTokens)
	case UnitInputTokens:
		return saturated(c.InputTokens)
	case UnitOutputTokens:
		return saturated(c.OutputTokens)
	case UnitPoints:
		return saturated(c.Points)
	case UnitMicroUSD:
		return saturated(c.MicroUSD)
	}
	return 0
}

func saturated(n int64) float64 { return float64(min(n, costCap)) }

// negative returns the name of the first negative field.
func (c *Cost) negative() (string, int64) {
	switch {
	case c.Requests < 0:
		return "Requests", c.Requests
	case c.InputTokens < 0:
		return "InputTokens", c.InputTokens
	case c.CachedTokens < 0:
		return "CachedTokens", c.CachedTokens
	case c.OutputTokens < 0:
		return "OutputTokens", c.OutputTokens
	case c.Points < 0:
		return "Points", c.Points
	case c.MicroUSD < 0:
		return "MicroUSD", c.MicroUSD
	}
	return "", 0
}

// settledOver returns the cost that stands once actual is known: actual where
// it names a field, c elsewhere.
func (c Cost) settledOver(actual Cost) Cost {
	known := func(now, estimate int64) int64 {
		if now < 0 {
			return estimate
		}
		return now
	}
	if actual.Requests <= 0 {
		actual.Requests = c.Requests
	}
	actual.InputTokens = known(actual.InputTokens, c.InputTokens)
	actual.CachedTokens = known(actual.CachedTokens, c.CachedTokens)
	actual.OutputTokens = known(actual.OutputTokens, c.OutputTokens)
	actual.Points = known(actual.Points, c.Points)
	actual.MicroUSD = known(actual.MicroUSD, c.MicroUSD)
	return actual
}

// plus adds two costs field by field, saturating instead of overflowing.
func (c Cost) plus(d Cost) Cost {
	add := func(a, b int64) int64 {
		if b > 0 && a > math.MaxInt64-b {
			return math.MaxInt64
		}
		return a + b
	}
	return Cost{
		Requests:     add(c.Requests, d.Requests),
		InputTokens:  add(c.InputTokens, d.InputTokens),
		CachedTokens: add(c.CachedTokens, d.CachedTokens),
		OutputTokens: add(c.OutputTokens, d.OutputTokens),
		Points:       add(c.Points, d.Points),
		MicroUSD:     add(c.MicroUSD, d.MicroUSD),
	}
}
