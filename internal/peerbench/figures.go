package main

import (
	"math"
	"slices"
	"time"
)

// median is the middle one, or the mean of the two in the middle; NaN of none.
func median(xs []float64) float64 { return quantile(xs, 0.5) }

// quantile is the q-th quantile, between neighbours in proportion; NaN of none.
func quantile(xs []float64, q float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(xs))
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 == len(s) {
		return s[i]
	}
	return s[i] + (s[i+1]-s[i])*(at-float64(i))
}

// ratio is the median of what a is to b, pair by pair: what slows both down
// for a while doesn't change it.
func ratio(a, b []float64) float64 {
	var rs []float64
	for i := range min(len(a), len(b)) {
		rs = append(rs, a[i]/b[i])
	}
	return median(rs)
}

// times are a contestant's nanoseconds per unit, by round.
func (b board) times(name string) []float64 {
	return b.each(name, func(s slice) float64 { return s.took })
}

func (b board) each(name string, f func(slice) float64) (xs []float64) {
	for _, s := range b.slices[name] {
		xs = append(xs, f(s))
	}
	return xs
}

// slower is how many times as long a takes for a unit of work as b.
func (b board) slower(a, than string) float64 { return ratio(b.times(a), b.times(than)) }

// faster is how many times as much a does as b.
func (b board) faster(a, than string) float64 { return ratio(b.times(than), b.times(a)) }

func (b board) allocs(name string) float64 {
	return median(b.each(name, func(s slice) float64 { return s.allocs }))
}

func (b board) scripts(name string) float64 {
	return median(b.each(name, func(s slice) float64 { return s.scripts }))
}

func (b board) scriptRun(name string) []float64 {
	return b.each(name, func(s slice) float64 { return s.scriptRun })
}

// micros is a duration in microseconds.
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
