package main

import (
	"math"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// jitter is how long a request travels to the vendor, at most, beside what the
// machine adds.
const jitter = 30 * time.Millisecond

// Margins for what comes on top of it: the time between Redis's decision and
// the request's departure. A bucket can spare more, at no cost in quota.
const (
	spare       = 20 * time.Millisecond
	logSpare    = 40 * time.Millisecond
	bucketSpare = 70 * time.Millisecond
)

// mirror returns the budget's limits that count as the plan's vendor counts,
// whose windows start as many after ours as offset says. Each has the smallest
// margin for jitter that is safe:
//
//   - a fixed window has none: at full load nothing leaves at its end
//   - a log is longer by the jitter, since a request that was late once is
//     followed by one that isn't
//   - the windows of two counters start earlier by it, so that no request is
//     charged to one window and arrives in the next, and a few fewer fit
//   - a bucket is smaller by what flows in during it, and its rate the same. One
//     of a second's worth that is a single request can't be smaller, and fills
//     more slowly instead
func mirror(p plan, offset time.Duration) []throttle.Limit {
	return []throttle.Limit{
		mirrored(p, throttle.UnitRequests, p.amount(), 1, offset),
		mirrored(p, throttle.UnitTokens, p.tokens(), maxTokens, offset),
	}
}

// mirrored is one limit of amount units, of which a call costs at most most.
func mirrored(p plan, unit throttle.Unit, amount, most int, offset time.Duration) throttle.Limit {
	l := throttle.Limit{Unit: unit, Amount: int64(amount), Per: p.Window}
	perSecond := float64(amount) / p.Window.Seconds()
	flow := func(d time.Duration) float64 { return perSecond * d.Seconds() }
	switch p.Vendor {
	case fixed:
		l.Algorithm, l.Offset = throttle.FixedWindow, into(offset, p.Window)
	case slidingLog:
		l.Algorithm, l.Per = throttle.SlidingLog, p.Window+jitter+logSpare
	case twoCounter:
		l.Algorithm, l.Offset = throttle.SlidingWindow, into(offset-jitter-spare, p.Window)
		l.Amount = int64(math.Ceil(float64(amount)+1-flow(jitter+spare))) - 1
	case bucket:
		l.Algorithm = throttle.TokenBucket
		l.Burst = max(1, int64(float64(amount)-flow(jitter+bucketSpare)))
	case bucket1s:
		l.Algorithm = throttle.TokenBucket
		l.Burst = int64(perSecond - flow(jitter+bucketSpare))
		if l.Burst < int64(most) {
			l.Burst = int64(most)
			slower := jitter.Seconds() - (perSecond-float64(most))/perSecond
			l.Per += time.Duration(max(0, slower) * perSecond / float64(most) * float64(l.Per)).Round(time.Microsecond)
		}
	}
	return l
}

// into is where in a window an offset falls.
func into(offset, per time.Duration) time.Duration {
	return ((offset%per + per) % per).Round(time.Microsecond)
}
