package main

import (
	"net/http"
	"slices"
	"testing"
	"time"
)

const ms = time.Millisecond

// good returns a history that keeps every rule there is: two windows of ten
// seconds to warm up in, four that count, with a storm, a refused key, a Redis
// that hangs, processes killed.
func good() *history {
	h := &history{
		plan: plan{
			Name: "good", Title: "a run", Vendor: fixed, Rate: 600, Window: 10 * time.Second, Processes: 2,
			For: 60 * time.Second, From: 20 * time.Second, ProbeEvery: 3 * time.Second, Slots: true,
			Goals: goals{Quota: 99, Refusals: true, LiveWait: 10 * ms, Background: 60, Over: 110, Pause: true, Probes: true, Outage: true, Whole: 99},
		},
		Reports: 2, Trips: 300,
		Leftovers: leftovers{Looked: 3},
		Storms:    []span{{1000 * ms, 3000 * ms}},
		Revoked:   []span{{8000 * ms, 16000 * ms}},
		Hangs:     []span{{20 * time.Second, 24 * time.Second}},
		Kills:     []death{{At: 12000 * ms, Process: 1, Probing: true}},
	}
	b := &builder{h: h}
	b.refused(1010*ms, http.StatusTooManyRequests, 1990*ms).Storm = true // told at 1020, until 3010
	b.answer(background, 3200*ms)
	b.refused(8100*ms, http.StatusUnauthorized, 0)
	b.refused(11110*ms, http.StatusUnauthorized, 0).Probe = true
	b.refused(14120*ms, http.StatusUnauthorized, 0).Probe = true
	for at := 18 * time.Second; at < 20*time.Second; at += 100 * ms {
		b.answer(live, at)
	}
	for at := 20 * time.Second; at < 60*time.Second; at += 100 * ms {
		lane := live
		if at%(200*ms) == 0 {
			lane = background
		}
		b.answer(lane, at)
	}
	slices.SortFunc(h.Arrivals, func(a, b arrival) int { return int(a.At - b.At) })
	return h
}

// A builder adds calls to a history, and what the vendor saw of them.
type builder struct{ h *history }

func (b *builder) add(lane string, at time.Duration, status int, o outcome) *arrival {
	n := len(b.h.Calls) + 1
	b.h.Calls = append(b.h.Calls, call{
		Lane: lane, Number: n, Arrived: at, Decided: at + ms, Ended: at + 50*ms, Deadline: at + patience[lane], Outcome: o,
	})
	b.h.Arrivals = append(b.h.Arrivals, arrival{At: at + 5*ms, Sent: at + ms, Lane: lane, Call: n, Status: status})
	return &b.h.Arrivals[len(b.h.Arrivals)-1]
}

func (b *builder) answer(lane string, at time.Duration) { b.add(lane, at, http.StatusOK, answered) }

func (b *builder) refused(at time.Duration, status int, wait time.Duration) *arrival {
	in := b.add(live, at, status, refused)
	in.Told, in.Wait = at+10*ms, wait
	return in
}

func TestAGoodHistoryKeepsAllRules(t *testing.T) {
	t.Parallel()
	table := judge(good())
	for _, line := range table.Breaches() {
		t.Error(line)
	}
	if n := table.Rules(); n != 22 {
		t.Errorf("%d rules, want 22", n)
	}
}

// Each rule is broken by a history that is good but for one thing, and no other
// rule is, unless it has to be.
func TestABrokenHistoryBreaksItsRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		harm  func(h *history)
		rules []string // beginnings of what the rows say
	}{
		{"a refusal for want of room", func(h *history) {
			(&builder{h}).refused(50*time.Second, http.StatusTooManyRequests, time.Second)
		}, []string{"vendor refusals", "… 429 after it"}},
		{"five calls too few", func(h *history) { drop(h, 5) }, []string{"quota used"}},
		{"live calls that wait", func(h *history) {
			for i := range h.Calls {
				h.Calls[i].Decided += 15 * ms
			}
		}, []string{"live calls: 99th", "… of calls later"}},
		{"nothing but background", func(h *history) {
			for i := range h.Arrivals {
				h.Arrivals[i].Lane = background
			}
		}, []string{"background: highest"}},
		{"no background at all", func(h *history) {
			for i := range h.Arrivals {
				h.Arrivals[i].Lane = live
			}
		}, []string{"background: highest"}},
		{"a window with a fifth too much", func(h *history) {
			for range 20 {
				(&builder{h}).answer(live, 59*time.Second)
			}
		}, []string{"worst window"}},
		{"an eighth too much all the time", func(h *history) {
			for at := 20 * time.Second; at < 60*time.Second; at += 800 * ms {
				(&builder{h}).answer(live, at)
			}
			slices.SortFunc(h.Arrivals, func(a, b arrival) int { return int(a.At - b.At) })
		}, []string{"worst window", "sent from"}},
		{"a storm that nobody ran into", func(h *history) { h.Storms[0] = span{4000 * ms, 5000 * ms} }, []string{"storm 1: last process"}},
		{"no storm", func(h *history) { h.Storms = nil }, []string{"storms of 429"}},
		{"a process that stops late", func(h *history) { storms(h, 1200*ms) }, []string{"storm 1: last process", "… calls sent during"}},
		{"a call late in the pause", func(h *history) { storms(h, 2900*ms) }, []string{"storm 1: last process", "… calls sent during"}},
		{"all come back at once", func(h *history) {
			for range 5 {
				(&builder{h}).answer(live, 3100*ms)
			}
		}, []string{"… calls in the first half"}},
		{"two probes in an interval", func(h *history) {
			(&builder{h}).refused(11300*ms, http.StatusUnauthorized, 0).Probe = true
		}, []string{"probes of the key"}},
		{"a probe that comes early", func(h *history) { moveProbe(h, -500*ms) }, []string{"probes of the key"}},
		{"a probe that comes late", func(h *history) { moveProbe(h, time.Second) }, []string{"probes of the key"}},
		{"an interval without a probe at the end", func(h *history) {
			h.Arrivals = slices.DeleteFunc(h.Arrivals, func(in arrival) bool { return in.Probe && in.At > 14*time.Second })
			h.Calls = slices.DeleteFunc(h.Calls, func(c call) bool { return c.Arrived == 14120*ms })
		}, []string{"probes of the key"}},
		{"no probe", func(h *history) {
			for i := range h.Arrivals {
				h.Arrivals[i].Probe = false
			}
		}, []string{"probes of the key"}},
		{"nobody killed as he probes", func(h *history) { h.Kills[0].Probing = false }, []string{"… the process that held"}},
		{"a key that comes back late", func(h *history) {
			h.Revoked[0].To = 12 * time.Second
		}, []string{"first answer after"}},
		{"calls that Redis delays as it hangs", func(h *history) {
			decide(h, 20*time.Second, 100*ms)
		}, []string{"Redis hung"}},
		{"calls that Redis delays later on", func(h *history) { decide(h, 22*time.Second, 45*ms) }, []string{"… of calls later"}},
		{"nobody calls as Redis hangs", func(h *history) { h.Hangs[0] = span{19800 * ms, 19900 * ms} }, []string{"Redis hung", "… of calls later"}},
		{"a budget that isn't whole after a kill", func(h *history) {
			h.Kills[0].At = 3 * time.Second
		}, []string{"… in the next one"}},
		{"nothing lost by the kill", func(h *history) { h.Kills[0].At = 25 * time.Second }, []string{"of the budget in the window"}},
		{"a call that fails", func(h *history) { h.Calls[9].Outcome = lost }, []string{"calls lost"}},
		{"a call that hangs", func(h *history) { h.Calls[9].Ended = h.Calls[9].Deadline + 60*ms }, []string{"calls lost"}},
		{"an answer that nobody gave", func(h *history) {
			h.Calls[9].Number = 99_999
		}, []string{"calls lost"}},
		{"a goroutine left behind", func(h *history) { h.Goroutines = 1 }, []string{"goroutines"}},
		{"a slot left behind", func(h *history) { h.Leftovers.Slots = 1 }, []string{"slots"}},
		{"slots that nobody knows of", func(h *history) { h.Leftovers.Slots = -1 }, []string{"slots"}},
		{"a key for ever", func(h *history) { h.Leftovers.Forever = 1 }, []string{"keys in Redis"}},
		{"a key that outlives its expiry", func(h *history) { h.Leftovers.Outlived = 1 }, []string{"keys in Redis"}},
		{"no keys at all", func(h *history) { h.Leftovers.Looked = 0 }, []string{"keys in Redis"}},
		{"requests with a key that isn't ours", func(h *history) {
			h.Revoked = nil
		}, []string{"probes of the key", "… the process that", "first answer", "requests with another"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := good()
			c.harm(h)
			broken := judge(h).Breaches()
			if !begins(broken, c.rules) {
				t.Errorf("broken are %q, want %q", broken, c.rules)
			}
		})
	}
}

// begins reports whether the rows are those that begin so, in any order.
func begins(rows, with []string) bool {
	found := 0
	for _, w := range with {
		if slices.ContainsFunc(rows, func(r string) bool { return len(r) >= len(w) && r[:len(w)] == w }) {
			found++
		}
	}
	return found == len(with) && len(rows) == len(with)
}

// drop removes answered calls of the windows that count.
func drop(h *history, n int) {
	h.Arrivals = slices.DeleteFunc(h.Arrivals, func(in arrival) bool {
		gone := in.At > 35*time.Second && n > 0
		if gone {
			n--
			h.Calls = slices.DeleteFunc(h.Calls, func(c call) bool { return c.Number == in.Call })
		}
		return gone
	})
}

// storms has one more call sent while the fleet should be quiet.
func storms(h *history, at time.Duration) {
	in := (&builder{h}).refused(at, http.StatusTooManyRequests, 3*time.Second-at)
	in.Storm = true
}

func moveProbe(h *history, by time.Duration) {
	for i := range h.Arrivals {
		if h.Arrivals[i].Probe && h.Arrivals[i].At > 14*time.Second {
			h.Arrivals[i].Sent += by
		}
	}
}

// decide has the background calls of half a second decided late.
func decide(h *history, at, late time.Duration) {
	for i := range h.Calls {
		c := &h.Calls[i]
		if c.Lane == background && c.Arrived >= at && c.Arrived < at+500*ms && (c.Arrived < at+100*ms || at > 21*time.Second) {
			c.Decided = c.Arrived + late
		}
	}
}

func TestNoiseIsAllowedFor(t *testing.T) {
	t.Parallel()
	h := good()
	storms(h, 1200*ms) // 180 ms after the news
	decide(h, 20*time.Second, 100*ms)
	h.Noise = []lateness{{At: 1100 * ms, By: 120 * ms}, {At: 20 * time.Second, By: 60 * ms}}
	if n := judge(h).Broken(); n != 0 {
		t.Errorf("%d rules broken by what the machine did", n)
	}
}
