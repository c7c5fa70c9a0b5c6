package main

import (
	"fmt"
	"time"
)

// An algorithm is how a vendor counts. The arithmetic here is written apart
// from the library's, on purpose, so that a mistake in one isn't hidden by the
// same mistake in the other.
type algorithm string

const (
	fixed      algorithm = "fixed"       // windows one after the other
	slidingLog algorithm = "sliding-log" // every request of the last window
	twoCounter algorithm = "two-counter" // this window's count, and a part of the last one's
	bucket     algorithm = "bucket"      // filled evenly, holding a window's worth
	bucket1s   algorithm = "bucket-1s"   // filled evenly, holding a second's worth
)

var algorithms = []algorithm{fixed, slidingLog, twoCounter, bucket, bucket1s}

// counting is how a vendor counts, in words.
var counting = map[algorithm]string{
	fixed: "fixed windows", slidingLog: "a log of each request", twoCounter: "two counters", bucket: "a token bucket", bucket1s: "a token bucket of one second",
}

// A counter is one limit as a vendor holds it. Times never go back.
type counter interface {
	// fits reports whether n units have room.
	fits(at time.Time, n float64) bool
	// add counts n units, room or not.
	add(at time.Time, n float64)
	// used is how much of the amount is in use.
	used(at time.Time) float64
	// size is the amount that used is measured by.
	size() float64
}

// newCounter returns an empty counter of amount units in each window. Windows
// start at multiples of per by the clock that its times are of.
func newCounter(a algorithm, amount float64, per time.Duration) counter {
	switch a {
	case fixed:
		return &fixedCounter{amount: amount, per: per}
	case slidingLog:
		return &logCounter{amount: amount, per: per}
	case twoCounter:
		return &twoCounters{amount: amount, per: per}
	case bucket:
		return &bucketCounter{capacity: amount, perSecond: amount / per.Seconds()}
	case bucket1s:
		return &bucketCounter{capacity: amount / per.Seconds(), perSecond: amount / per.Seconds()}
	}
	panic(fmt.Sprintf("fleet: no algorithm %q", a))
}

// windowOf is the number of the window that a time is in, and how far into it
// that is, from 0 to 1.
func windowOf(at time.Time, per time.Duration) (index int64, into float64) {
	ns := at.UnixNano()
	return ns / int64(per), float64(ns%int64(per)) / float64(per)
}

// A fixedCounter starts again with every window.
type fixedCounter struct {
	amount float64
	per    time.Duration
	index  int64
	count  float64
}

func (c *fixedCounter) turn(at time.Time) {
	if index, _ := windowOf(at, c.per); index != c.index {
		c.index, c.count = index, 0
	}
}

func (c *fixedCounter) fits(at time.Time, n float64) bool {
	c.turn(at)
	return c.count+n <= c.amount
}

func (c *fixedCounter) add(at time.Time, n float64) {
	c.turn(at)
	c.count += n
}

func (c *fixedCounter) used(at time.Time) float64 {
	c.turn(at)
	return c.count
}

func (c *fixedCounter) size() float64 { return c.amount }

// A logCounter remembers each request for exactly one window.
type logCounter struct {
	amount  float64
	per     time.Duration
	entries []entry
	sum     float64
}

type entry struct {
	at time.Time
	n  float64
}

func (c *logCounter) forget(at time.Time) {
	old := 0
	for old < len(c.entries) && at.Sub(c.entries[old].at) >= c.per {
		c.sum -= c.entries[old].n
		old++
	}
	c.entries = c.entries[old:]
}

func (c *logCounter) fits(at time.Time, n float64) bool {
	c.forget(at)
	return c.sum+n <= c.amount
}

func (c *logCounter) add(at time.Time, n float64) {
	c.forget(at)
	c.entries = append(c.entries, entry{at, n})
	c.sum += n
}

func (c *logCounter) used(at time.Time) float64 {
	c.forget(at)
	return c.sum
}

func (c *logCounter) size() float64 { return c.amount }

// twoCounters take the requests of the last window to be spread evenly. Like
// the well-known implementations they admit a request while the estimate
// before it is below the amount.
type twoCounters struct {
	amount            float64
	per               time.Duration
	index             int64
	current, previous float64
}

func (c *twoCounters) used(at time.Time) float64 {
	index, into := windowOf(at, c.per)
	switch index - c.index {
	case 0:
	case 1:
		c.previous, c.current = c.current, 0
	default:
		c.previous, c.current = 0, 0
	}
	c.index = index
	return c.previous*(1-into) + c.current
}

func (c *twoCounters) fits(at time.Time, n float64) bool { return c.used(at)+n < c.amount+1 }

func (c *twoCounters) add(at time.Time, n float64) {
	c.used(at)
	c.current += n
}

func (c *twoCounters) size() float64 { return c.amount }

// A bucketCounter fills evenly up to its capacity, and starts full.
type bucketCounter struct {
	capacity, perSecond float64
	taken               float64 // not refilled yet; more than capacity where add went beyond
	at                  time.Time
}

func (c *bucketCounter) used(at time.Time) float64 {
	if !c.at.IsZero() {
		c.taken = max(0, c.taken-at.Sub(c.at).Seconds()*c.perSecond)
	}
	c.at = at
	return c.taken
}

// grain keeps what float64 rounds from refusing a request.
const grain = 1e-9

func (c *bucketCounter) fits(at time.Time, n float64) bool { return c.used(at)+n <= c.capacity+grain }

func (c *bucketCounter) add(at time.Time, n float64) {
	c.used(at)
	c.taken += n
}

func (c *bucketCounter) size() float64 { return c.capacity }
