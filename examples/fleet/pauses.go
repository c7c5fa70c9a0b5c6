package main

import (
	"net/http"
	"time"
)

// news is how long a process may take to hear what another one was told.
const news = 100 * time.Millisecond

// A stop is what the fleet did about one storm of 429.
type stop struct {
	Told    time.Duration // when the first 429 of it left
	Reach   time.Duration // until the last process sent its last call, after that
	End     time.Duration // of the pause that the fleet was told
	During  int           // calls sent in it after news, and the noise at that time
	Again   int           // 429 after it, until the next storm
	Ramp    int           // calls sent in the first half of the ramp
	RampMax int           // and how many those may be
	Noise   time.Duration
}

// stops looks at each storm. A storm that nobody ran into is one with Told 0.
func stops(h *history) []stop {
	var all []stop
	for i, s := range h.Storms {
		until := h.For
		if i+1 < len(h.Storms) {
			until = h.Storms[i+1].From
		}
		all = append(all, stopAt(h, s, until))
	}
	return all
}

func stopAt(h *history, storm span, until time.Duration) stop {
	var st stop
	for _, in := range h.Arrivals {
		if in.Storm && in.At >= storm.From && in.At < storm.To {
			if st.Told == 0 || in.Told < st.Told {
				st.Told = in.Told
			}
			st.End = max(st.End, in.Told+in.Wait)
		}
	}
	if st.Told == 0 {
		return st
	}
	st.Noise = noiseWithin(h.Noise, st.Told, st.Told+news)
	for _, in := range h.Arrivals {
		switch {
		case in.Sent < st.Told || in.At >= until:
		case in.Sent < st.End:
			st.Reach = max(st.Reach, in.Sent-st.Told)
			if in.Sent > st.Told+news+st.Noise {
				st.During++
			}
		default:
			if in.Status == http.StatusTooManyRequests {
				st.Again++
			}
		}
	}
	st.ramp(h)
	return st
}

// ramp counts the calls in the first half of the ramp. It lasts as long as the
// pause, at most ten seconds, and the k-th call leaves no earlier than
// Ramp*sqrt(2k/K) after its beginning, K being what the budget has in Ramp.
func (st *stop) ramp(h *history) {
	length := min(st.End-st.Told, 10*time.Second)
	half := st.End + length/2
	for _, in := range h.Arrivals {
		if in.Sent >= st.End && in.Sent < half {
			st.Ramp++
		}
	}
	st.RampMax = int(h.perSecond()*length.Seconds()/8) + 2
}
