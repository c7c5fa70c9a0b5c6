package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/headgate-go/headgate/throttle"

	"github.com/headgate-go/headgate/examples/internal/findings"
)

// A lessee is a fleet that leases in one way, at one load.
type lessee struct {
	what string
	job  job
	most float64 // round trips per call; 0: whatever

	customer *account
	got      tally
}

const day = 24 * time.Hour // a window that doesn't end during a scene

// playLeases has processes claim ahead, and counts what that saves: calls go
// out without asking, and yet nothing is refused and no quota is lost.
func playLeases(ctx context.Context, s *stage) (*table, error) {
	s = s.atMost(4)
	t := &table{findings.Table{Title: fmt.Sprintf("leases: round trips to Redis per call, where %d processes claim ahead", s.processes)}}
	if s.redis == "" {
		t.Note("the budget is in memory: -redis ADDR shows more")
		return t, nil
	}
	all := []*lessee{steady(), demanding(), exhausting()}
	together, ctx := errgroup.WithContext(ctx)
	for _, l := range all {
		together.Go(func() error { return l.perform(ctx, s) })
	}
	if err := together.Wait(); err != nil {
		return nil, err
	}
	for _, l := range all {
		l.show(t)
	}
	return t, nil
}

const leaseTime = 3 * time.Second // how long each of them calls

// steady has an even load. What was leased at the end of a window is sent in the
// next one, so that the vendor may count somewhat more in that than headgate.
func steady() *lessee {
	const calls = 400
	return &lessee{what: fmt.Sprintf("chunks of 10, %d calls/s, 3/4 of the quota", calls), most: 0.2, job: job{
		Key: "sk-leases", Chunk: 10, Limit: throttle.Requests(calls*2*4/3, per), For: leaseTime,
		Streams: []stream{{Lane: live, Every: pace(calls, time.Second)}},
	}}
}

// demanding has so many calls that it leaves it to headgate how far ahead is
// far enough.
func demanding() *lessee {
	const calls = 1200
	return &lessee{what: fmt.Sprintf("as the demand asks for, %d calls/s", calls), most: 0.05, job: job{
		Key: "sk-leases-auto", Chunk: auto, Limit: throttle.Requests(20*calls, day), For: leaseTime,
		Streams: []stream{{Lane: live, Every: pace(calls, time.Second)}},
	}}
}

// exhausting asks for more than there is. Most processes stop before that: what
// they still have leased has to come back for the one that goes on.
func exhausting() *lessee {
	const calls, stop = 300, time.Second
	return &lessee{what: "chunks of 10 until nothing is left", job: job{
		Key: "sk-leases-all", Chunk: 10, Limit: throttle.Requests(2*calls, day), For: leaseTime,
		Streams: []stream{
			{Lane: live, Every: pace(calls, time.Second), Until: stop},
			{Lane: live, Every: pace(calls, time.Second), After: stop, By: theFirst},
		},
	}}
}

func (l *lessee) perform(ctx context.Context, s *stage) error {
	l.customer = s.vendor.open(l.job.Key, int(l.job.Limit.Amount), l.job.Limit.Per)
	l.job.Patience = per / 4
	got, err := s.perform(ctx, l.job, soon)
	l.got = got[live]
	return err
}

func (l *lessee) show(t *table) {
	perCall := float64(l.got.Trips) / float64(l.got.Offered)
	if l.most > 0 {
		t.Require(l.what, perCall, fmt.Sprintf("at most %.2f", l.most), perCall <= l.most)
		t.Require("… of its calls answered", l.got.Answered, "all", l.got.Answered == l.got.Offered)
	} else {
		used := findings.Share(float64(l.got.Answered), float64(l.job.Limit.Amount))
		t.Require(l.what+": quota used", used, "100 %", used == 100)
	}
	refused := len(l.customer.arrivals(withStatus(http.StatusTooManyRequests)))
	t.Require("… vendor refusals", refused, "0", refused == 0)
	t.showTrouble(l.got)
}
