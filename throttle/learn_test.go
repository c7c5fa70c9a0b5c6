package throttle_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// learning is a budget of the model that learns its limits.
func learning(limits ...throttle.Limit) []throttle.Budget {
	return []throttle.Budget{{Models: []string{model}, Limits: limits, Learn: true}}
}

func TestLimitsAreLearnedFromTheLastReport(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{Store: fl.open(t), Lanes: endless(), Budgets: learning()})
		daily := func(limit int64) throttle.Report {
			return throttle.Report{Unit: throttle.UnitRequests, Per: 24 * time.Hour, Limit: limit, Remaining: throttle.Unsaid}
		}
		p := goes(t, th, context.Background(), call())
		p.Reported(daily(20), throttle.Report{Unit: throttle.UnitTokens, Per: time.Minute, Limit: throttle.Unsaid, Remaining: 3})
		p.Done() // it went before there was a limit, and isn't counted
		held := goes(t, th, context.Background(), call())
		if n := admittedNow(t, th, 100); n != 19 {
			t.Fatalf("%d more calls of 20 went", n)
		}
		p.Reported(daily(100)) // it has ended, and says nothing any more
		waits := make(chan throttle.Permit)
		go func() { waits <- goes(t, th, context.Background(), call()) }()
		held.Reported(daily(30)) // a waiting call goes at once
		(<-waits).Done()
		if n := admittedNow(t, th, 100); n != 9 {
			t.Errorf("%d more calls of 30 went, after 21", n)
		}
		held.Reported(daily(10))
		held.Done()
		if n := admittedNow(t, th, 100); n != 0 {
			t.Errorf("%d calls went above the limit", n)
		}
		// Another account learns by itself.
		goes(t, th, context.Background(), throttle.Call{Key: key, Account: "other", Model: model}).Done()
	})
}

func TestWithoutLimitsFewCallsAreInFlightUntilOneIsLearned(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: []lanes.Lane{lanes.Live, lanes.Background}, Budgets: learning()})
		var mu sync.Mutex
		inFlight, most := 0, []int{0}
		vendor := func(answer func(throttle.Permit)) {
			p := goes(t, th, context.Background(), call())
			mu.Lock()
			inFlight++
			most[len(most)-1] = max(most[len(most)-1], inFlight)
			mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			mu.Lock()
			inFlight--
			mu.Unlock()
			answer(p)
			p.Done()
		}
		for range 4 { // rounds of waiting callers
			most = append(most, 0)
			var all sync.WaitGroup
			for range 40 {
				all.Go(func() { vendor(func(throttle.Permit) {}) })
			}
			all.Wait()
		}
		if most[1] > 32 || most[4] != 40 {
			t.Errorf("in flight at most: %v", most[1:])
		}
	})
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: []lanes.Lane{lanes.Live, lanes.Background}, Budgets: learning()})
		first := goes(t, th, context.Background(), call())
		denied(t, th, background(context.Background()), call(), throttle.ErrBudget) // it may not wait
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, err := th.Acquire(ctx, call())
		if e := deniedBy(t, throttle.Permit{}, err, throttle.ErrBudget); !errors.Is(e, context.DeadlineExceeded) {
			t.Errorf("%v", e)
		}
		waits := make(chan struct{})
		go func() {
			for range 9 {
				goes(t, th, context.Background(), call()).Done()
			}
			close(waits)
		}()
		synctest.Wait()
		first.Reported(throttle.Report{Unit: throttle.UnitRequests, Limit: 10, Remaining: 9})
		<-waits // by the learned limit, while the first still runs
		_, err = th.Acquire(background(context.Background()), call())
		if e := deniedBy(t, throttle.Permit{}, err, throttle.ErrBudget); e.Limit != "10 requests per 1m0s" {
			t.Errorf("limit %q", e.Limit)
		}
		first.Done()
	})
}

// Who waits because no limit is known yet is bounded and told what the others
// are told.
func TestCallsAtTheGateAreToldWhatOthersAre(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: endless(), QueueLimit: 5, Budgets: learning()})
		first := goes(t, th, context.Background(), call())
		var all sync.WaitGroup
		waits := func(n int, reason error) {
			for range n {
				all.Go(func() { denied(t, th, context.Background(), call(), reason) })
			}
			synctest.Wait()
		}
		waits(5, throttle.ErrKeyRefused)
		denied(t, th, context.Background(), call(), throttle.ErrQueueFull)
		if s, err := th.Status(context.Background()); err != nil || s.Waiting != 5 {
			t.Errorf("%d wait, %v", s.Waiting, err)
		}
		if err := th.Check(context.Background(), call()); !errors.Is(err, throttle.ErrBudget) {
			t.Errorf("Check: %v", err)
		}
		first.Answered(throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey})
		all.Wait()
		first.Done()
	})
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: []lanes.Lane{lanes.Live}, Budgets: learning()})
		first := goes(t, th, context.Background(), call())
		start := time.Now()
		var all sync.WaitGroup
		all.Go(func() { denied(t, th, context.Background(), call(), throttle.ErrPaused) })
		synctest.Wait()
		first.Answered(throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: time.Minute})
		all.Wait()
		if time.Since(start) > 0 {
			t.Errorf("it was told after %v", time.Since(start))
		}
		first.Done()
	})
}

func TestCloseTurnsCallsAtTheGateAway(t *testing.T) { // B153
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: endless(), Budgets: learning()})
		first := goes(t, th, context.Background(), call())
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { denied(t, th, context.Background(), call(), throttle.ErrClosed) })
		}
		synctest.Wait()
		_ = th.Close()
		all.Wait()
		first.Done()
	})
}
