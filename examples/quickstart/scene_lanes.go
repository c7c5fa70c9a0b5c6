package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// playLanes has a background job ask for three times the quota while live
// callers ask for what the job's ceiling leaves them. First the job is alone,
// for one window, so that it gets to its ceiling.
func playLanes(ctx context.Context, s *stage) (*table, error) {
	const windows = 2
	ceiling := lanes.Background.Share
	customer := s.vendor.open("sk-lanes", quota, per)
	got, err := s.perform(ctx, job{
		Key: "sk-lanes", Limit: throttle.Requests(quota, per), For: windows * per, Patience: per,
		Streams: []stream{
			{Lane: background, Every: pace(3*quota, per)},
			{Lane: live, After: per, Every: pace((1-ceiling)*quota, per)},
		},
	}, atWindow)
	if err != nil {
		return nil, err
	}
	jobs := customer.arrivals(func(in arrival) bool { return in.origin.lane == background })
	refused := customer.arrivals(withStatus(http.StatusTooManyRequests))
	highest := share(peak(jobs, per, time.Time{}), quota)

	t := &table{title: fmt.Sprintf("lanes: a background job at three times the quota, beside live calls, for %v", windows*per)}
	t.show("background: offered", got[background].Offered)
	t.show("background: let through", got[background].Answered)
	t.require("background: highest share of a window", highest, fmt.Sprintf("at most %.0f %%", 100*ceiling), float64(highest) <= 100*ceiling+1e-9)
	t.show("live: offered", got[live].Offered)
	t.require("live: denied", got[live].Denied, "0", got[live].Denied == 0)
	t.require("live: answered", got[live].Answered, "all", got[live].Answered == got[live].Offered)
	t.show(fmt.Sprintf("live: slowest, the vendor's %v included", thinking), got[live].Slowest)
	t.require("vendor refusals", len(refused), "0", len(refused) == 0)
	t.showTrouble(got[background], got[live])
	return t, nil
}
