//go:build unix

package throttle_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/procs"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/throttle"
)

// Processes that are killed with something in their hands: the fleet misses it
// for no longer than the rules say.

// setup is a fleet on a Redis of its own, with limits of one budget.
func setup(t *testing.T, limits ...throttle.Limit) *Setup {
	t.Helper()
	t.Parallel() // these tests wait for what passes by itself
	return &Setup{Addr: redistest.Start(t).Addr, Timeout: 10 * time.Second, Budgets: budget(limits...), Lanes: patient(), Pause: noRamp}
}

// takes has a worker make a call that must go.
func takes(t *testing.T, w *procs.Process, c Want) Fate {
	t.Helper()
	var f Fate
	if w.Call(t, "Acquire", c, &f); f.Permit == 0 {
		t.Fatalf("the worker's call was denied: %s", f.Denied)
	}
	return f
}

// used is how much is counted of the one limit of the one budget.
func used(t *testing.T, th *throttle.Throttle) int64 {
	t.Helper()
	_ = th.Check(context.Background(), call()) // the budget is known then
	s, err := th.Status(context.Background())
	if err != nil || len(s.Budgets) != 1 || len(s.Budgets[0].Limits) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	return s.Budgets[0].Limits[0].Used
}

// waits returns once a worker has so many waiting calls.
func waits(t *testing.T, w *procs.Process, n int64) {
	t.Helper()
	var has [2]int64
	if !soon(func() bool { w.Call(t, "Status", 0, &has); return has[0] == n }) {
		t.Fatalf("%d calls of the worker wait, want %d", has[0], n)
	}
}

func TestLeasesOfKilledProcessesAreBackAfterAWindow(t *testing.T) { // B111
	const killed, chunk, amount = 5, 8, 60
	const window = 4 * time.Second
	s := setup(t, throttle.Requests(amount, window).Using(throttle.SlidingLog))
	s.Lease = leasing.Policy{Chunk: chunk, MaxAge: window}
	var doomed []*procs.Process
	for range killed {
		doomed = append(doomed, s.worker(t))
	}
	survivor := s.throttle(t)
	for _, w := range doomed {
		takes(t, w, Want{Lane: "now"})
	}
	for _, w := range doomed {
		w.Kill(t)
	}
	end := time.Now().Add(window + window/1000) // a log's slots count to their ends
	if n := used(t, survivor); n > killed*(chunk+1) || n < killed {
		t.Errorf("%d calls are counted with the leases of %d killed processes", n, killed)
	}
	time.Sleep(time.Until(end))
	_ = survivor.Close() // with its own lease
	second := s.throttle(t)
	for i := range amount {
		if _, err := tryNow(t, second, call()); err != nil {
			t.Fatalf("after a window only %d of %d calls go: %v", i, amount, err)
		}
	}
}

func TestAKilledWaiterHoldsUpOthersForAQuarterOfASecondAfterItsTurn(t *testing.T) { // B111
	const each = 4 * time.Second
	s := setup(t, throttle.Requests(1, each).Using(throttle.TokenBucket))
	th, w := s.throttle(t), s.worker(t)
	goes(t, th, context.Background(), call()).Done()
	start := time.Now()
	w.Go("Acquire", Want{Lane: "live"}, new(Fate))
	waits(t, w, 1)
	went := make(chan time.Duration)
	go func() {
		p, err := th.Acquire(context.Background(), call())
		if err != nil {
			t.Error(err)
		}
		p.Done()
		went <- time.Since(start)
	}()
	waiting(th, 1)
	w.Kill(t)
	// Its turn would have come after the dead one's, another interval later.
	if took := <-went; took < each || took > 2*each-time.Second/2 {
		t.Errorf("the call behind a killed one went after %v, want %v and a quarter of a second", took, each)
	}
}

func TestSlotsOfAKilledProcessAreFreeAfterHalfAMinute(t *testing.T) { // B111, B113
	s := setup(t, throttle.InFlight(2))
	th, doomed, lives := s.throttle(t), s.worker(t), s.worker(t)
	takes(t, doomed, Want{Lane: "now"})
	long := takes(t, lives, Want{Lane: "now"})
	start := time.Now()
	doomed.Kill(t)
	if _, err := tryNow(t, th, call()); !errors.Is(err, throttle.ErrBudget) {
		t.Errorf("a third call at once: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p := goes(t, th, ctx, call())
	if took := time.Since(start); took > 45*time.Second || took < 20*time.Second {
		t.Errorf("a killed process held its slot for %v", took)
	}
	// The other still runs, and renews: only one place is free.
	if _, err := tryNow(t, th, call()); !errors.Is(err, throttle.ErrBudget) {
		t.Errorf("a call beside a long one and a new one: %v", err)
	}
	lives.Call(t, "End", Ending{Permit: long.Permit}, new(int))
	goes(t, th, ctx, call()).Done()
	p.Done()
}

func TestTheProbeOfAKilledProcessIsFollowedByOne(t *testing.T) { // B84
	const every = 2 * time.Second
	s := setup(t, throttle.Requests(1000, 24*time.Hour))
	s.Every = every
	holder := s.worker(t)
	refusal := throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey}
	first := takes(t, holder, Want{Lane: "now"})
	holder.Call(t, "End", Ending{Permit: first.Permit, Verdict: &refusal}, new(int))
	var probe Fate
	for !probe.Probe {
		time.Sleep(probe.RetryAfter)
		if holder.Call(t, "Acquire", Want{Lane: "now"}, &probe); probe.Permit > 0 && !probe.Probe {
			t.Fatal("a refused key let a call through")
		}
	}
	holder.Kill(t)
	began := time.Now()
	probes := make(chan time.Duration, 100)
	ctx, cancel := context.WithTimeout(context.Background(), every+every*3/4)
	defer cancel()
	var wg sync.WaitGroup
	for range 5 {
		th := s.throttle(t)
		for range 4 {
			wg.Go(func() {
				for ctx.Err() == nil {
					p, err := th.Acquire(ctx, throttle.Call{Key: key, Model: model, Lane: lanes.Lane{Name: "now"}})
					if err != nil {
						time.Sleep(5 * time.Millisecond)
						continue
					}
					if !p.Probe() {
						t.Error("a refused key let a call through")
					}
					probes <- time.Since(began)
				}
			})
		}
	}
	wg.Wait()
	// The kill came some time after the probe began.
	if at := <-probes; len(probes) != 0 || at > every+every/2 {
		t.Errorf("%d more probes than one, which began %v after the kill", len(probes), at)
	}
}
