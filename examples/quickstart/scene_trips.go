package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/headgate-go/headgate/throttle"

	"github.com/headgate-go/headgate/examples/internal/findings"
)

// crowd is how many calls are under way at once where many are.
const crowd = 500

// playTrips counts how often a process asks Redis per call, for a caller on its
// own and for many at once, who share the way.
func playTrips(ctx context.Context, s *stage) (*table, error) {
	t := &table{findings.Table{Title: "trips: round trips to Redis per call"}}
	if s.redis == "" {
		t.Note("the budget is in memory: -redis ADDR shows more")
		return t, nil
	}
	s.vendor.open("sk-trips", 0, 0)
	for _, m := range []struct {
		callers, rounds int
		most            float64
	}{{1, 50, 1.2}, {crowd, 4, 0.5}} {
		perCall, got, err := s.countTrips(ctx, m.callers, m.rounds)
		if err != nil {
			return nil, err
		}
		t.Require(fmt.Sprintf("%d at once, %d calls", m.callers, got.Offered), perCall, fmt.Sprintf("at most %.1f", m.most), perCall <= m.most)
		t.Require("… of which answered", got.Answered, "all", got.Answered == got.Offered)
		t.showTrouble(got)
	}
	forever, err := s.keysWithoutExpiry(ctx)
	if err != nil {
		return nil, err
	}
	t.Require("keys of this run that would never expire", forever, "0", forever == 0)
	return t, nil
}

// countTrips has callers call one after the other, rounds times each. What the
// throttle sends when it closes is counted too.
func (s *stage) countTrips(ctx context.Context, callers, rounds int) (perCall float64, sum tally, err error) {
	w, err := newWorker(job{
		Vendor: s.vendor.url, Redis: s.redis, Prefix: s.prefix, Key: "sk-trips",
		Limit: throttle.Requests(1_000_000, time.Minute), Patience: time.Second,
	})
	if err != nil {
		return 0, sum, err
	}
	w.trips.Store(0) // what it took to connect
	var all sync.WaitGroup
	var mu sync.Mutex
	for range callers {
		all.Go(func() {
			for range rounds {
				one := w.call(ctx, live, "")
				mu.Lock()
				sum.add(one)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	sum.Outages = int(w.outages.Load())
	w.close()
	return float64(w.trips.Load()) / float64(sum.Offered), sum, ctx.Err()
}
