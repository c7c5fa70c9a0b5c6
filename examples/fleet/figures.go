package main

import (
	"net/http"
	"time"
)

// Figures are what a history comes to.
type figures struct {
	Sent       int // calls that reached the vendor
	Refused    int // of them, for want of room
	Quota      float64
	QuotaNoise float64 // what late timers may have cost of it
	LiveP50    time.Duration
	LiveP99    time.Duration
	Background float64 // highest share
	Over       float64 // worst window
	OverAt     time.Duration
	Total      float64 // sent since From, of what the budget has in that time
	Trips      float64 // per call
	Probes     []time.Duration
	Lost       []string // one line for each call
	Noise      time.Duration
	Offered    int
	Denied     int
}

// epoch is when the vendor's windows of a history start: at 0, as begin sees to.
var epoch = time.Unix(0, 0).Add(365 * 24 * time.Hour)

// figure computes what a history comes to.
func figure(h *history) figures {
	f := figures{Sent: len(h.Arrivals), Noise: noiseWithin(h.Noise, 0, h.For)}
	for _, in := range h.Arrivals {
		if in.Status == http.StatusTooManyRequests && !in.Storm {
			f.Refused++
		}
		if in.Probe {
			f.Probes = append(f.Probes, in.Sent)
		}
	}
	f.Quota = quota(h)
	if h.Goals.Place {
		f.QuotaNoise = 100 * h.perSecond() * h.MeanNoise.Seconds()
	}
	waits := liveWaits(h)
	f.LiveP50, f.LiveP99 = quantile(waits, 0.50), quantile(waits, 0.99)
	f.Background, _ = peak(h, func(in arrival) bool { return in.Lane == background })
	f.Over, f.OverAt = peak(h, func(arrival) bool { return true })
	f.Total = total(h)
	for _, c := range h.Calls {
		if c.Outcome != quit {
			f.Offered++
		}
		if c.Outcome == denied {
			f.Denied++
		}
	}
	if f.Offered > 0 {
		f.Trips = float64(h.Trips) / float64(f.Offered)
	}
	f.Lost = lostCalls(h)
	return f
}

// quota is how much of what the vendor allows was used, over the whole windows
// since From, in percent: of his requests, or of tokens where those are scarce.
func quota(h *history) float64 {
	windows := (h.For - h.From) / h.Window
	if windows < 1 {
		return 0
	}
	requests, tokens := 0.0, 0.0
	for _, in := range h.Arrivals {
		if in.Status == http.StatusOK && in.At >= h.From && in.At < h.From+windows*h.Window {
			requests++
			tokens += in.Tokens
		}
	}
	if h.Tokens > 0 {
		return 100 * tokens / (float64(windows) * float64(h.tokens()))
	}
	return 100 * requests / (float64(windows) * float64(h.amount()))
}

// liveWaits are how long live calls waited until they were let go, those that
// the vendor answered.
func liveWaits(h *history) []time.Duration {
	var waits []time.Duration
	for _, c := range h.Calls {
		if c.Lane == live && c.Outcome == answered && c.Arrived >= h.From {
			waits = append(waits, c.Decided-c.Arrived)
		}
	}
	return waits
}

// peak is the most that the arrivals in question came to of the vendor's limit,
// by his own way of counting, had he refused none, in percent, and when.
func peak(h *history, counts func(arrival) bool) (most float64, when time.Duration) {
	c := newCounter(h.Vendor, float64(h.amount()), h.Window)
	for _, in := range h.Arrivals {
		if in.Status == http.StatusUnauthorized || in.Storm || !counts(in) {
			continue
		}
		at := epoch.Add(in.At)
		c.add(at, 1)
		if used := 100 * c.used(at) / c.size(); used > most {
			most, when = used, in.At
		}
	}
	return most, when
}

// total is what was sent from From until the end, of what the budget has in
// that time, in percent.
func total(h *history) float64 {
	n := 0
	for _, in := range h.Arrivals {
		if in.At >= h.From && in.At < h.For {
			n++
		}
	}
	return 100 * float64(n) / (h.perSecond() * (h.For - h.From).Seconds())
}

// lateEnd is how long after its deadline a call may come back.
const lateEnd = 50 * time.Millisecond

// lostCalls are calls that got neither the vendor's answer nor a typed denial,
// that came back too late, or that the vendor knows nothing of although he is
// said to have answered.
func lostCalls(h *history) []string {
	type id struct{ process, call int }
	came := map[id]bool{}
	for _, in := range h.Arrivals {
		came[id{in.Process, in.Call}] = true
	}
	var found []string
	for _, c := range h.Calls {
		noise := noiseWithin(h.Noise, c.Deadline-tenth, c.Ended)
		switch {
		case c.Outcome == lost:
			found = append(found, c.Failure)
		case c.Ended > c.Deadline+lateEnd+noise:
			found = append(found, "came back "+(c.Ended-c.Deadline).String()+" after its deadline")
		case (c.Outcome == answered || c.Outcome == refused) && !came[id{c.Process, c.Number}]:
			found = append(found, "the vendor knows nothing of a call that he is said to have answered")
		}
	}
	return found
}

// stumbles are refusals for want of room that come within a window after this
// machine stood still for longer than the budgets' margin is wide. They may be its
// doing; that excuses none of them.
func stumbles(h *history) int {
	n := 0
	for _, in := range h.Arrivals {
		if in.Status == http.StatusTooManyRequests && !in.Storm && noiseWithin(h.Noise, in.At-h.Window, in.At) > spare {
			n++
		}
	}
	return n
}
