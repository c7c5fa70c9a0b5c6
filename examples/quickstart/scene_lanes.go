package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"

	"github.com/headgate-go/headgate/examples/internal/findings"
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
	highest := findings.Share(peak(jobs, per, time.Time{}), quota)

	t := &table{findings.Table{Title: fmt.Sprintf("lanes: a background job at three times the quota, beside live calls, for %v", windows*per)}}
	t.Show("background: offered", got[background].Offered)
	t.Show("background: let through", got[background].Answered)
	t.Require("background: highest share of a window", highest, fmt.Sprintf("at most %.0f %%", 100*ceiling), float64(highest) <= 100*ceiling+1e-9)
	t.Show("live: offered", got[live].Offered)
	t.Require("live: denied", got[live].Denied, "0", got[live].Denied == 0)
	t.Require("live: answered", got[live].Answered, "all", got[live].Answered == got[live].Offered)
	t.Show(fmt.Sprintf("live: slowest, the vendor's %v included", thinking), got[live].Slowest)
	t.Require("vendor refusals", len(refused), "0", len(refused) == 0)
	t.showTrouble(got[background], got[live])
	return t, nil
}
