package leasing

import (
	"math"
	"time"
)

// demandSlot is the time over which calls are counted; a rate is taken from the
// slot that runs and the one before.
const demandSlot = 200 * time.Millisecond

// A Demand follows how many calls are attempted, and what they cost. The zero
// value has seen none. It is not safe for concurrent use.
type Demand struct {
	began             time.Time // of the running slot
	current, previous float64   // calls attempted
	mean              []float64 // cost of a call, by limit
}

// Note counts an attempt. The slice is not kept.
func (d *Demand) Note(now time.Time, cost []float64) {
	d.turn(now)
	d.current++
	if len(d.mean) != len(cost) {
		d.mean = append([]float64(nil), cost...)
		return
	}
	for i, c := range cost {
		d.mean[i] += (c - d.mean[i]) / 8
	}
}

func (d *Demand) turn(now time.Time) {
	switch passed := now.Sub(d.began); {
	case passed < demandSlot:
	case passed < 2*demandSlot:
		d.previous, d.current, d.began = d.current, 0, d.began.Add(demandSlot)
	default:
		d.previous, d.current, d.began = 0, 0, now
	}
}

// Calls is how many attempts to expect in the given time at the recent rate.
func (d *Demand) Calls(now time.Time, ahead time.Duration) float64 {
	d.turn(now)
	left := 1 - float64(now.Sub(d.began))/float64(demandSlot)
	// Until the first slot has passed its own count says more than its rate.
	rate := max(d.current, d.current+d.previous*left)
	return rate * float64(ahead) / float64(demandSlot)
}

// Mean is what a call costs of each limit, rounded up.
func (d *Demand) Mean() []float64 {
	mean := make([]float64, len(d.mean))
	for i, m := range d.mean {
		mean[i] = math.Ceil(m)
	}
	return mean
}
