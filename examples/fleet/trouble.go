package main

import (
	"net/http"
	"time"
)

// Probing is what became of a key that was refused for a while.
type probing struct {
	Counts  []int         // probes in each interval since the one before
	Killed  bool          // the process of one of them
	Resumed time.Duration // from the repair to the first answer
}

// lookAtProbes counts. An interval begins with a probe, the first of them with
// the first refusal; what a probe is early or late isn't added up.
func lookAtProbes(h *history, f figures) probing {
	var p probing
	if len(h.Revoked) == 0 {
		return p
	}
	revoked := h.Revoked[0]
	began := time.Duration(0)
	for _, in := range h.Arrivals {
		switch {
		case in.Status == http.StatusUnauthorized && began == 0:
			began = in.Sent
		case in.Status == http.StatusOK && in.At >= revoked.To && p.Resumed == 0:
			p.Resumed = in.At - revoked.To
		}
	}
	p.Counts = perInterval(f.Probes, began, revoked.To, h.ProbeEvery)
	for _, d := range h.Kills {
		p.Killed = p.Killed || d.Probing
	}
	return p
}

// perInterval counts the probes of each interval. One that comes later than its
// interval's end, and that is a late one, leaves a 0.
func perInterval(probes []time.Duration, began, end, every time.Duration) []int {
	var counts []int
	for i := 0; began > 0 && began+every+late < end; {
		n := 0
		last := began
		// The next probe begins an interval after this one did, and a little
		// later, when somebody calls.
		for i < len(probes) && probes[i] < began+every+late {
			n++
			last = probes[i]
			if probes[i] < began+every-early {
				n += 100 // nobody may be early
			}
			i++
		}
		counts = append(counts, n)
		if began = last; n == 0 {
			began += every
		}
		if began+every+late >= end {
			break
		}
		if n == 0 && i >= len(probes) && began > end {
			break
		}
	}
	return counts
}

// How far from its interval's end a probe may begin: clocks differ by a few
// milliseconds between Redis's decision and its departure, and somebody has to
// call.
const (
	early = 5 * time.Millisecond
	late  = 400 * time.Millisecond
)

func (p probing) once() bool {
	for _, n := range p.Counts {
		if n != 1 {
			return false
		}
	}
	return len(p.Counts) > 0
}

// timeout is RedisOptions.Timeout, what a hung Redis may cost a call.
const timeout = 50 * time.Millisecond

// decision is how long one may take that is made in this process, beside what
// the machine adds.
const decision = 10 * time.Millisecond

// An outage is what a hang of Redis cost the calls that never wait for room.
type outage struct {
	Hang       time.Duration
	First      time.Duration // longest decision of those who came as it began
	FirstNoise time.Duration
	Firsts     int
	Later      time.Duration // of those after them, less the noise
	Laters     int
}

// atFirst is how long after the beginning of a hang calls may be delayed.
const atFirst = 150 * time.Millisecond

func outages(h *history) []outage {
	var all []outage
	for _, s := range h.Hangs {
		all = append(all, outageIn(h, s))
	}
	return all
}

func outageIn(h *history, s span) outage {
	o := outage{Hang: s.To - s.From}
	o.FirstNoise = noiseWithin(h.Noise, s.From-timeout, s.From+atFirst+timeout)
	for _, c := range h.Calls {
		if c.Lane != background || c.Decided == 0 {
			continue
		}
		took := c.Decided - c.Arrived
		switch {
		case c.Decided < s.From || c.Arrived >= s.To:
		case c.Arrived < s.From+atFirst:
			o.Firsts++
			o.First = max(o.First, took)
		case c.Decided < s.To:
			o.Laters++
			o.Later = max(o.Later, took-noiseWithin(h.Noise, c.Arrived-nap, c.Decided))
		}
	}
	return o
}

// A recovery is how much of the budget was used in the window in which
// processes were killed, and in the next one.
type recovery struct{ Before, After float64 }

func whole(h *history) recovery {
	if len(h.Kills) == 0 {
		return recovery{Before: 100}
	}
	first := h.Kills[0].At / h.Window
	in := func(window time.Duration) float64 {
		n := 0
		for _, a := range h.Arrivals {
			if a.At/h.Window == window {
				n++
			}
		}
		return 100 * float64(n) / float64(h.amount())
	}
	return recovery{Before: in(first), After: in(first + 1)}
}
