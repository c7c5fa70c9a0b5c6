package main

import (
	"math"
	"time"
)

// A window is the vendor's limiter: a sliding window estimated from two
// counters, as many vendors count. It is written apart from the library's, so
// that a mistake in one isn't hidden by the same mistake in the other.
//
// Both count in windows that start at multiples of per since 1970. That is
// what makes "no refusals" a fair promise: a client that counts in another way
// than the vendor collects some at full speed, however carefully it counts.
// The vendor sees each request a little later than the client counted it; so
// it admits while the estimate is below amount, a fraction of a request more
// than the client allows itself.
type window struct {
	amount int
	per    time.Duration

	index             int64 // of the current window
	current, previous int   // admitted in it, and in the one before
}

// admit counts a request, unless there is no room for it.
func (w *window) admit(now time.Time) bool {
	if w.estimate(now) >= float64(w.amount) {
		return false
	}
	w.current++
	return true
}

// estimate is how many requests the last per saw, taking those of the previous
// window to be spread evenly.
func (w *window) estimate(now time.Time) float64 {
	index, into := position(now, w.per)
	switch index {
	case w.index:
	case w.index + 1:
		w.previous, w.current = w.current, 0
	default:
		w.previous, w.current = 0, 0
	}
	w.index = index
	return float64(w.previous)*(1-into) + float64(w.current)
}

// position is the number of the window that now is in, and how far into it now
// is, from 0 to 1.
func position(now time.Time, per time.Duration) (index int64, into float64) {
	ns := now.UnixNano()
	return ns / int64(per), float64(ns%int64(per)) / float64(per)
}

// nextWindow is when the next window starts.
func nextWindow(now time.Time, per time.Duration) time.Time {
	index, _ := position(now, per)
	return time.Unix(0, (index+1)*int64(per))
}

// peak is the most that the arrivals came to in a window of per, since a time.
func peak(arrivals []arrival, per time.Duration, since time.Time) float64 {
	w := window{amount: math.MaxInt, per: per}
	most := 0.0
	for _, a := range arrivals {
		w.admit(a.at)
		if !a.at.Before(since) {
			most = max(most, w.estimate(a.at))
		}
	}
	return most
}
