package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/headgate-go/headgate/throttle"

	"github.com/headgate-go/headgate/examples/internal/findings"
)

// early is by how much a call may reach the vendor before one that was called
// for earlier.
const early = 50 * time.Millisecond

// playOrder has unequal callers wait for the same scarce budget. First those of
// one process queue up, then those of the others; then all call at the same
// time, the first process three times as often as the others together. Whoever
// came first must go first, wherever it waits: where each process only knew its
// own callers, those of the others would hardly wait.
func playOrder(ctx context.Context, s *stage) (*table, error) {
	const crowding, together, end = 100 * time.Millisecond, 200 * time.Millisecond, 1400 * time.Millisecond
	const mostPairs, mostUnlike = 3, 1.5
	customer := s.vendor.open("sk-order", 0, 0)
	var start time.Time
	got, err := s.perform(ctx, job{
		Key: "sk-order", Limit: throttle.Requests(quota, time.Second).Using(throttle.GCRA).WithBurst(1),
		Patience: callTimeout / 2, For: end,
		Streams: []stream{
			{Lane: live, By: theFirst, Every: crowding / 20, Until: crowding},
			{Lane: live, By: theOthers, Every: crowding / 20, After: crowding, Until: 2 * crowding},
			{Lane: live, By: theFirst, Every: pace(quota*3/4, time.Second), After: together},
			{Lane: live, By: theOthers, Every: pace(quota/4, time.Second), After: together},
		},
	}, func() time.Time { start = soon(); return start })
	if err != nil {
		return nil, err
	}
	answered := customer.arrivals(withStatus(http.StatusOK))

	t := &table{findings.Table{Title: fmt.Sprintf("order: unequal callers wait for %d requests per %v, one at a time", quota, time.Second)}}
	t.Require("calls, all of which may wait: answered", got[live].Answered, "all", got[live].Answered == got[live].Offered)
	wrong := wrongWay(answered, early)
	t.Require(fmt.Sprintf("pairs in the wrong order by more than %v", early), wrong, fmt.Sprintf("at most %d %%", mostPairs), wrong <= mostPairs)
	if !s.needsFleet(t) {
		at := since(start.Add(together))
		busy := meanWait(customer.arrivals(func(in arrival) bool { return at(in) && in.origin.worker == 0 }))
		rest := meanWait(customer.arrivals(func(in arrival) bool { return at(in) && in.origin.worker != 0 }))
		unlike := max(busy.Seconds()/rest.Seconds(), rest.Seconds()/busy.Seconds())
		t.Show("mean wait at the process with most of the callers", busy)
		t.Show("… of the calls at the same time at the others", rest)
		t.Require("… these differ by a factor of", unlike, fmt.Sprintf("at most %.1f", mostUnlike), unlike <= mostUnlike)
	}
	t.showTrouble(got[live])
	return t, nil
}

// since keeps what was called for from a time on.
func since(from time.Time) func(arrival) bool {
	return func(in arrival) bool { return !in.origin.since.Before(from) }
}

// wrongWay is the share of those pairs that reached the vendor in the wrong
// order, of all pairs that were called for more than tolerance apart.
func wrongWay(in []arrival, tolerance time.Duration) findings.Percent {
	pairs, wrong := 0, 0
	for i, earlier := range in {
		for _, later := range in[i+1:] {
			apart := later.origin.since.Sub(earlier.origin.since)
			if apart.Abs() > tolerance {
				pairs++
			}
			if apart < -tolerance {
				wrong++
			}
		}
	}
	return findings.Share(float64(wrong), float64(max(pairs, 1)))
}

// meanWait is from the call to its arrival.
func meanWait(in []arrival) time.Duration {
	var sum time.Duration
	for _, a := range in {
		sum += a.at.Sub(a.origin.since)
	}
	return sum / time.Duration(max(len(in), 1))
}
