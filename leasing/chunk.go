package leasing

import (
	"time"
)

// A Chunk is units that were claimed at one moment and are spent without
// asking. It is not safe for concurrent use: who holds several guards them and
// the demand for them by one lock, which a call then takes once.
type Chunk struct {
	ends    time.Time // no unit is spent from then on
	endWall int64     // the same by the wall clock alone, in nanoseconds

	size []float64 // calls when it was new, then units by limit

	calls  float64   // left
	units  []float64 // left, by limit; below zero where calls cost more than they said
	sealed bool
}

// NewChunk returns a chunk of n calls like the cost, by limit, that was claimed
// at began, before the claim was sent, and may be trusted for age.
func NewChunk(n float64, cost []float64, began time.Time, age time.Duration) *Chunk {
	c := &Chunk{size: []float64{n}, calls: n, ends: began.Add(age - min(age/10, margin))}
	c.endWall = c.ends.UnixNano()
	for _, u := range cost {
		c.units = append(c.units, n*u)
	}
	c.size = append(c.size, c.units...)
	return c
}

// margin is for what the clock of a process may be slow while it holds a chunk.
const margin = 10 * time.Millisecond

// Spend takes a call's units, and reports whether they were all there and may
// be spent at now.
func (c *Chunk) Spend(now time.Time, cost []float64) bool {
	if !c.Covers(now, cost) {
		return false
	}
	c.calls--
	for i, u := range cost {
		c.units[i] -= u
	}
	return true
}

// Covers reports whether Spend would take a call's units.
func (c *Chunk) Covers(now time.Time, cost []float64) bool {
	return !c.over(now) && c.covers(cost)
}

func (c *Chunk) covers(cost []float64) bool {
	if c.sealed || c.calls < 1 {
		return false
	}
	for i, u := range cost {
		if u > c.units[i] {
			return false
		}
	}
	return true
}

// over reports whether the chunk's time has passed, by either clock: the
// monotonic one stands still while a machine sleeps, and the wall clock may be
// set back.
func (c *Chunk) over(now time.Time) bool {
	return !now.Before(c.ends) || now.UnixNano() >= c.endWall
}

// Correct changes what a call has taken by delta, and gives calls back. It
// reports whether the chunk still stands; else nothing is changed.
func (c *Chunk) Correct(delta []float64, calls float64) bool {
	if c.sealed {
		return false
	}
	c.calls += calls
	for i, d := range delta {
		c.units[i] -= d
	}
	return true
}

// Seal ends the chunk and returns what is to be given back, by limit and in
// calls; first is false if it was sealed before.
func (c *Chunk) Seal() (units []float64, calls float64, first bool) {
	first = !c.sealed
	c.sealed = true
	return c.units, c.calls, first
}

// Low reports whether the next chunk should be claimed: a quarter is left, or a
// third of the age.
func (c *Chunk) Low(now time.Time, age time.Duration) bool {
	if c.ends.Sub(now) < age/3 {
		return true
	}
	low := c.sealed || c.calls <= c.size[0]/4
	for i, u := range c.units {
		low = low || c.size[i+1] > 0 && u <= c.size[i+1]/4
	}
	return low
}

// Left returns how many calls are left.
func (c *Chunk) Left() float64 {
	if c.sealed {
		return 0
	}
	return c.calls
}

// AddLeft adds the units that are left of the limits from the given one on.
func (c *Chunk) AddLeft(sum []float64, from int) {
	for i := range sum {
		if !c.sealed {
			sum[i] += max(0, c.units[from+i])
		}
	}
}

// Ends returns when the chunk can't be spent any more.
func (c *Chunk) Ends() time.Time { return c.ends }
