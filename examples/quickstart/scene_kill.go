package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/headgate-go/headgate/throttle"

	"github.com/headgate-go/headgate/examples/internal/findings"
)

// Both models of the scene that kills allow a call in 25 ms. One of them is
// paced: one place is free at a time, and where a dead process kept that, nobody
// would ever go again. The other counts in windows. The vendor allows a tenth
// more than the budgets, which is what a busy machine may delay at the end of a
// window.
const (
	killPer   = time.Second
	killQuota = 40
	killSpare = killQuota / 10
	killAt    = 1200 * time.Millisecond
	killSurge = 1500 * time.Millisecond
	killEnd   = 3 * killPer
)

// playKill kills a process of the fleet while it has units of one model leased,
// while callers wait in it for another one, and while calls are out. The others
// must go on soon where callers wait, and one window later with all of the
// quota of what was leased.
func playKill(ctx context.Context, s *stage) (*table, error) {
	t := &table{findings.Table{Title: "kill: a process is killed with leases, waiting callers and calls out"}}
	if s.needsFleet(t) {
		return t, nil
	}
	customer := s.vendor.open("sk-kill", killQuota+killSpare, killPer)
	f, err := s.atMost(4).hire(ctx, killing())
	if err != nil {
		return nil, err
	}
	defer f.close()
	start := nextWindow(soon(), killPer)
	got, err := f.run(ctx, start)
	if err != nil {
		return nil, err
	}
	if f.legacy == nil {
		return nil, errors.New("nobody was killed")
	}
	t.Require("in its hands: calls leased, callers waiting, calls out", f.legacy, "some", f.legacy.complete())
	showRecovery(t, customer, f.legacy.At, start.Add(killEnd))
	refused := len(customer.arrivals(withStatus(http.StatusTooManyRequests)))
	t.Require("vendor refusals", refused, "0", refused == 0)
	t.showTrouble(got[live])
	return t, nil
}

// killing is the job. For the one model it is somewhat too much, with the
// process that dies and without it, so that callers wait, and long enough for
// none to give up. For the other it is a moderate load at the process that
// dies, then too much at the others.
func killing() job {
	return job{
		Key: "sk-kill", Patience: callTimeout / 2, Chunk: 10, For: killEnd, Death: killAt,
		Limit:  throttle.Requests(killQuota, killPer).Using(throttle.GCRA).WithBurst(1),
		Second: throttle.Requests(killQuota, killPer),
		Streams: []stream{
			{Lane: live, By: theFirst, Every: pace(killQuota*0.4, killPer)},
			{Lane: live, By: theOthers, Every: pace(killQuota*1.1, killPer)},
			{Lane: live, Model: quick, By: theFirst, Every: pace(killQuota/2, killPer)},
			{Lane: live, Model: quick, By: theOthers, Every: pace(2*killQuota, killPer), After: killSurge},
		},
	}
}

// showRecovery looks at the time after the death, and at the last window for
// what has to be as before. A place in a pace that nobody takes in time is lost:
// on a busy machine that may be many, at any time.
func showRecovery(t *table, customer *account, death, end time.Time) {
	const longest, leastPace, leastUse = 600 * time.Millisecond, 50, 90
	paced := customer.arrivals(ofModel(chat))
	stall := longestGap(paced, death, end)
	t.Require("where callers wait: longest time without a call since", stall, fmt.Sprintf("at most %v", longest), stall <= longest)
	before := count(paced, within(death.Add(-killPer), death))
	after := findings.Share(count(paced, within(end.Add(-killPer), end)), before)
	t.Require("… calls in the window after, by those in as long before", after, fmt.Sprintf("at least %d %%", leastPace), after >= leastPace)
	counted := customer.arrivals(func(in arrival) bool { return in.model == quick && in.at.Before(end) })
	used := findings.Share(peak(counted, killPer, end.Add(-killPer)), killQuota)
	t.Require("what it had leased of: highest use of the window after", used, fmt.Sprintf("at least %d %%", leastUse), used >= leastUse)
}

func ofModel(model string) func(arrival) bool {
	return func(in arrival) bool { return in.model == model }
}

func count(in []arrival, keep func(arrival) bool) float64 {
	n := 0.0
	for _, a := range in {
		if keep(a) {
			n++
		}
	}
	return n
}

// longestGap is the longest time without an arrival between two times.
func longestGap(in []arrival, from, to time.Time) time.Duration {
	longest, last := time.Duration(0), from
	for _, a := range in {
		if a.at.After(from) && a.at.Before(to) {
			longest, last = max(longest, a.at.Sub(last)), a.at
		}
	}
	return max(longest, to.Sub(last))
}
