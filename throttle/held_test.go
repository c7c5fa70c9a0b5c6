package throttle_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/throttle"
)

func TestCallsInFlightAreCountedByTheFleetAndByLane(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		c := throttle.Config{Lanes: patient(), Budgets: budget(throttle.InFlight(5)), Lease: leasing.Policy{Chunk: 3}}
		var fleet []*throttle.Throttle
		for range 2 {
			c.Store = fl.open(t)
			fleet = append(fleet, newThrottle(t, c))
		}
		var out []throttle.Permit
		for i := range 3 {
			out = append(out, goes(t, fleet[i%2], background(context.Background()), call()))
		}
		denied(t, fleet[1], background(context.Background()), call(), throttle.ErrBudget) // three of five are its ceiling
		for i := range 2 {
			p, err := tryNow(t, fleet[i], call())
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, p)
		}
		_, err := tryNow(t, fleet[0], call())
		if e := deniedBy(t, throttle.Permit{}, err, throttle.ErrBudget); e.Limit != "5 calls in flight" || e.RetryAfter != 0 {
			t.Errorf("limit %q, come back in %v", e.Limit, e.RetryAfter)
		}
		// A waiting call goes when one of the other process ends.
		went := make(chan throttle.Permit)
		go func() { went <- goes(t, fleet[0], context.Background(), call()) }()
		out[1].Settle(throttle.Cost{InputTokens: 5})
		out[1] = <-went
		for _, p := range out {
			p.Done()
			p.Cancel() // it has ended
		}
		for range 5 { // all of it is back
			out = append(out, goes(t, fleet[1], context.Background(), call()))
		}
		if _, err := tryNow(t, fleet[0], call()); !errors.Is(err, throttle.ErrBudget) {
			t.Errorf("a sixth: %v", err)
		}
	})
}

// Ten thousand calls, some cancelled, some given up while they waited: no more
// than the limit ever run, and none is counted in the end.
func TestNoCallInFlightIsCountedForEver(t *testing.T) { // B114
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Lanes:   []lanes.Lane{{Name: "live", Share: 1, Wait: time.Second}},
			Budgets: budget(throttle.InFlight(20)),
		})
		var running, most atomic.Int64
		var all sync.WaitGroup
		for i := range 10_000 {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+i%50)*10*time.Millisecond)
				defer cancel()
				time.Sleep(time.Duration(i%97) * time.Millisecond)
				p, err := th.Acquire(ctx, call())
				if err != nil {
					return
				}
				n := running.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(time.Duration(i%13) * time.Millisecond)
				running.Add(-1)
				if i%10 == 0 {
					p.Cancel()
				} else {
					p.Done()
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if most.Load() != 20 {
			t.Errorf("%d calls ran at once, the limit is 20", most.Load())
		}
		s, err := th.Status(context.Background())
		if err != nil || s.Budgets[0].Limits[0].Used != 0 {
			t.Errorf("%+v, %v", s.Budgets[0].Limits, err)
		}
	})
}

func TestALongCallKeepsItsPlaceAndAKilledProcessLosesIt(t *testing.T) { // B113, B111
	inBubble(t, func(t *testing.T) {
		store := throttle.NewMemoryStore()
		c := throttle.Config{Store: store, Lanes: patient(), Budgets: budget(throttle.InFlight(1))}
		long, other := newThrottle(t, c), newThrottle(t, c)
		p := goes(t, long, context.Background(), call())
		for range 45 { // a stream of 45 minutes
			time.Sleep(time.Minute)
			if _, err := tryNow(t, other, call()); !errors.Is(err, throttle.ErrBudget) {
				t.Fatalf("a second call: %v", err)
			}
		}
		p.Done()
		q, err := tryNow(t, other, call())
		if err != nil {
			t.Fatal(err)
		}
		_ = other.Close() // from here on nobody renews: as if it were killed
		start := time.Now()
		goes(t, long, context.Background(), call()).Done()
		if took := time.Since(start); took > 31*time.Second || took < 19*time.Second {
			t.Errorf("a killed process held its place for %v", took)
		}
		q.Done() // late: it gives nobody else's place back
		p = goes(t, long, context.Background(), call())
		if _, err := tryNow(t, long, call()); !errors.Is(err, throttle.ErrBudget) {
			t.Errorf("a second call: %v", err)
		}
		p.Done()
	})
}
