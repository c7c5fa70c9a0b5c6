package main

import (
	"fmt"
	"net/http"
	"time"
)

// Probing is what became of a key that was refused for a while.
type probing struct {
	Every   time.Duration
	Gaps    []time.Duration // from the first refusal to the first probe, and from each to the next
	Rest    time.Duration   // from the last one to the repair
	Killed  bool            // the process of one of them
	Resumed time.Duration   // from the repair to the first answer
}

func lookAtProbes(h *history, f figures) probing {
	p := probing{Every: h.ProbeEvery}
	if len(h.Revoked) == 0 {
		return p
	}
	revoked := h.Revoked[0]
	last := time.Duration(0)
	for _, in := range h.Arrivals {
		switch {
		case in.Status == http.StatusUnauthorized && last == 0:
			last = in.Sent
		case in.Status == http.StatusOK && in.At >= revoked.To && p.Resumed == 0:
			p.Resumed = in.At - revoked.To
		}
	}
	for _, at := range f.Probes {
		p.Gaps = append(p.Gaps, at-last)
		last = at
	}
	p.Rest = revoked.To - last
	for _, d := range h.Kills {
		p.Killed = p.Killed || d.Probing
	}
	return p
}

// How far from an interval's end the next probe may begin: a few milliseconds
// pass between Redis's decision and a departure, and somebody has to call.
const (
	early = 5 * time.Millisecond
	late  = 400 * time.Millisecond
)

// once reports whether there was one probe in each interval: none came sooner
// after the one before, and none was left out.
func (p probing) once() bool {
	for _, gap := range p.Gaps {
		if gap < p.Every-early || gap > p.Every+late {
			return false
		}
	}
	return len(p.Gaps) > 0 && p.Rest <= p.Every+late
}

func (p probing) String() string {
	if len(p.Gaps) == 0 {
		return "none"
	}
	least, most := p.Gaps[0], p.Gaps[0]
	for _, gap := range p.Gaps {
		least, most = min(least, gap), max(most, gap)
	}
	return fmt.Sprintf("%d, %.2fs to %.2fs apart", len(p.Gaps), least.Seconds(), most.Seconds())
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
