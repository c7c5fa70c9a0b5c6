package leasing

import (
	"fmt"
	"math"
	"time"
)

// A Policy says how much a process claims ahead. The zero value is off.
type Policy struct {
	// Chunk is the size of a lease in calls; for other units it is Chunk times
	// the budget's recent mean cost. 0 is off.
	Chunk int64
	// MaxAge is how long a lease may be trusted, at most the budget's shortest
	// window. 0: one second, at most a tenth of the shortest window.
	MaxAge time.Duration

	auto bool
}

// Auto returns a policy whose chunks follow the demand of the process: what it
// will spend in about 200 ms, all processes together at most a hundredth of any
// amount. It leases nothing of a budget with a window shorter than ten seconds.
func Auto() Policy { return Policy{auto: true} }

// How Auto sizes a chunk.
const (
	autoAhead    = 200 * time.Millisecond // of demand
	autoPart     = 0.01                   // of an amount, fleet-wide
	autoShortest = 10 * time.Second       // window
)

// Off reports whether the policy asks for no leases.
func (p Policy) Off() bool { return p == Policy{} }

// Validate reports the first field that is out of range.
func (p Policy) Validate() error {
	if p.Chunk < 0 {
		return fmt.Errorf("Chunk is %d, want 0 or more", p.Chunk)
	}
	if p.MaxAge < 0 {
		return fmt.Errorf("MaxAge is %v, want 0 or more", p.MaxAge)
	}
	if p.Chunk == 0 && p.MaxAge != 0 && !p.auto {
		return fmt.Errorf("MaxAge is set without a Chunk")
	}
	return nil
}

// Age is how long a lease of a budget may be trusted whose shortest window is
// per; 0: it has none.
func (p Policy) Age(per time.Duration) time.Duration {
	age := p.MaxAge
	if age == 0 {
		if age = time.Second; per > 0 {
			age = min(age, per/10)
		}
	}
	if per > 0 {
		age = min(age, per)
	}
	return age
}

// Fits reports whether the policy leases of a budget whose shortest window is
// per; 0: it has none.
func (p Policy) Fits(per time.Duration) bool {
	return !p.Off() && (!p.auto || per == 0 || per >= autoShortest)
}

// Calls is how many calls to lease. demand is what Demand.Calls expects for
// Ahead, amounts are the limits in units, out what is leased of each already
// and cost what one call takes of each, live how many processes share them.
func (p Policy) Calls(demand float64, amounts, out, cost []float64, live int) float64 {
	if !p.auto {
		return float64(p.Chunk)
	}
	n := math.Ceil(demand)
	for i, amount := range amounts {
		if cost[i] > 0 {
			n = min(n, math.Floor((amount*autoPart/float64(max(1, live))-out[i])/cost[i]))
		}
	}
	if n < 2 {
		return 0 // one call can as well ask for itself
	}
	return n
}

// Ahead is for how long a lease should last at the present demand.
func (p Policy) Ahead() time.Duration { return autoAhead }
