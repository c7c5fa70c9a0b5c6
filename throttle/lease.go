package throttle

import "math"

// A leaseAsk asks for units ahead, to be spent without asking: those of n calls
// like the cost in a lane. It gets at most a divisor's part of the room that is
// left, so that the last of it is nobody's alone.
// lease.go and lua/lease.lua are the same, step by step; change both.
type leaseAsk struct {
	lane    int
	n       float64
	divisor float64
	cost    []float64 // by limit
}

// grantLease charges a lease and returns for how many calls. Nobody gets one
// while anybody of its own or a higher lane waits, nor in a pause or its ramp.
func (b *bench) grantLease() float64 {
	l := b.c.lease
	if l == nil || b.taken(l.lane) {
		return 0
	}
	for _, rec := range b.records() {
		if rec.until > b.now || rec.ramping(b.now) {
			return 0
		}
	}
	for i := range b.ahead {
		b.ahead[i] = 0 // nobody who counts waits, and lower lanes don't count
	}
	r := run{lane: l.lane, cost: l.cost}
	n := min(l.n, math.Floor(b.fit(&r, 0, math.Inf(1))/l.divisor))
	if n < 1 {
		return 0
	}
	b.take(&r, n)
	return n
}

// taken reports whether a call of the lane or a higher one waits.
func (b *bench) taken(lane int) bool {
	for _, s := range b.seats {
		if s.lane <= lane {
			return true
		}
	}
	for _, t := range b.waiting {
		if t.lane <= lane {
			return true
		}
	}
	for i := range b.c.runs {
		if r := &b.c.runs[i]; r.hold && r.lane <= lane && !r.empty() {
			return true
		}
	}
	return false
}

// empty reports whether a run that keeps places keeps none.
func (r *run) empty() bool {
	for _, c := range r.cost {
		if c > 0 {
			return false
		}
	}
	return r.pauses == [2]float64{}
}
