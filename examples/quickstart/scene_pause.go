package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/headgate-go/headgate/throttle"

	"github.com/headgate-go/headgate/examples/internal/findings"
)

// playPause has the vendor say "slow down" once, to one of many calls. Everybody
// must stay away as long as that one was told to, and come back afterwards.
func playPause(ctx context.Context, s *stage) (*table, error) {
	const wait, tell = 2 * time.Second, 500 * time.Millisecond
	customer := s.vendor.open("sk-pause", 0, 0)
	got, err := s.perform(ctx, job{
		Key: "sk-pause", Limit: throttle.Requests(2*quota, per), Patience: time.Second, For: tell + wait + 1500*time.Millisecond,
		Streams: []stream{{Lane: live, Every: 10 * time.Millisecond}},
	}, soon, cue{at: tell, do: func() { customer.slowDown(wait) }})
	if err != nil {
		return nil, err
	}
	told := customer.toldAt()
	if told.IsZero() {
		return nil, errors.New("no request came after the vendor was to say slow down")
	}
	before := customer.arrivals(within(time.Time{}, told))
	underway := customer.arrivals(within(told, told.Add(news)))
	during := customer.arrivals(within(told.Add(news), told.Add(wait)))
	after := customer.arrivals(within(told.Add(wait), told.Add(time.Hour)))

	t := &table{findings.Table{Title: fmt.Sprintf("pause: one call is answered 429 with Retry-After: %.0f", wait.Seconds())}}
	t.Show("calls that reached the vendor before", len(before))
	t.Show(fmt.Sprintf("… with the 429 and within %v of it", news), len(underway))
	t.Require("… during the rest of the pause", len(during), "0", len(during) == 0)
	t.Show("denied by headgate, not sent", got[live].Denied)
	t.Require("… after the pause", len(after), "some", len(after) > 0)
	if len(after) > 0 {
		t.Show("first call after the pause's end by", after[0].at.Sub(told.Add(wait)))
	}
	t.showTrouble(got[live])
	return t, nil
}
