package throttle_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

func TestWaitingCallsLeaveAtTheComputedInstants(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Budgets: budget(throttle.Requests(10, 10*time.Second).Using(throttle.TokenBucket).WithBurst(1)),
			Lanes:   patient(),
		})
		start := time.Now()
		var mu sync.Mutex
		var went []time.Duration
		for range 5 {
			go func() {
				goes(t, th, context.Background(), call()).Done()
				mu.Lock()
				defer mu.Unlock()
				went = append(went, time.Since(start))
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second}
		if !slices.Equal(went, want) {
			t.Errorf("calls went at %v, want %v", went, want)
		}
	})
}

func TestSlidingWindowRoomIsUsedWhenThePreviousWindowHasFadedEnough(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Budgets: budget(throttle.Requests(4, 8*time.Second)), Lanes: patient()})
		time.Sleep(8*time.Second - time.Duration(time.Now().UnixNano())%(8*time.Second)) // a window's start
		start := time.Now()
		for range 4 {
			goes(t, th, context.Background(), call()).Done()
		}
		var went []time.Duration
		for range 4 {
			goes(t, th, context.Background(), call()).Done()
			went = append(went, time.Since(start))
		}
		// Of the four, one has faded after each quarter of the next window.
		want := []time.Duration{10 * time.Second, 12 * time.Second, 14 * time.Second, 16 * time.Second}
		if !slices.Equal(went, want) {
			t.Errorf("calls went at %v, want %v", went, want)
		}
	})
}

func TestHigherLanesGoFirstAndWithinALaneWhoCameFirst(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		high := lanes.Lane{Name: "high", Share: 1, Wait: -1}
		low := lanes.Lane{Name: "low", Share: 1, Wait: -1}
		th := newThrottle(t, throttle.Config{
			Budgets: budget(throttle.Requests(1, time.Second).Using(throttle.TokenBucket)),
			Lanes:   []lanes.Lane{high, low},
		})
		goes(t, th, context.Background(), call()).Done()
		var mu sync.Mutex
		var order []string
		enter := func(name string, l lanes.Lane) {
			go func() {
				goes(t, th, lanes.With(context.Background(), l), call()).Done()
				mu.Lock()
				defer mu.Unlock()
				order = append(order, name)
			}()
			synctest.Wait()
		}
		enter("low 1", low)
		enter("low 2", low)
		enter("high 1", high)
		enter("high 2", high)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		want := []string{"high 1", "high 2", "low 1", "low 2"}
		if !slices.Equal(order, want) {
			t.Errorf("order is %v, want %v", order, want)
		}
	})
}

func TestLiveWaitsFiveSecondsAndBackgroundNotAtAll(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Budgets: budget(throttle.Requests(1, 6*time.Second).Using(throttle.TokenBucket)),
		})
		goes(t, th, context.Background(), call()).Done()
		start := time.Now()
		e := denied(t, th, background(context.Background()), call(), throttle.ErrBudget)
		if e.RetryAfter != 6*time.Second || time.Since(start) != 0 {
			t.Errorf("background: come back in %v after %v, want 6s at once", e.RetryAfter, time.Since(start))
		}
		e = denied(t, th, context.Background(), call(), throttle.ErrBudget)
		if e.RetryAfter != 6*time.Second || time.Since(start) != 0 {
			t.Errorf("live: come back in %v after %v, want 6s at once: the wait can't succeed", e.RetryAfter, time.Since(start))
		}
		time.Sleep(time.Second)
		goes(t, th, context.Background(), call()).Done()
		if got := time.Since(start); got != 6*time.Second {
			t.Errorf("a live call five seconds before there is room went after %v, want 6s", got)
		}
	})
}

func TestACallWithoutALaneIsLive(t *testing.T) { // B140
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Budgets: budget(throttle.Requests(10, time.Minute))})
		for range 10 { // all of it, where background has six
			goes(t, th, context.Background(), call()).Done()
		}
		e := denied(t, th, context.Background(), call(), throttle.ErrBudget)
		if e.Lane != "live" {
			t.Errorf("lane is %q", e.Lane)
		}
	})
}

func TestAWaitBeyondTheCallersDeadlineFailsAtOnceAsDeadlineExceeded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Budgets: budget(throttle.Requests(1, 30*time.Second).Using(throttle.TokenBucket)), Lanes: patient(),
		})
		goes(t, th, context.Background(), call()).Done()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		start := time.Now()
		e := denied(t, th, ctx, call(), throttle.ErrBudget)
		if time.Since(start) != 0 || !errors.Is(e, context.DeadlineExceeded) || e.RetryAfter != 30*time.Second {
			t.Errorf("after %v: %v, want at once, DeadlineExceeded and 30s", time.Since(start), e)
		}
	})
}

func TestACancelledWaitCostsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Budgets: budget(throttle.Requests(1, time.Second).Using(throttle.TokenBucket)), Lanes: patient(),
		})
		goes(t, th, context.Background(), call()).Done()
		for range 100 {
			ctx, cancel := context.WithCancelCause(context.Background())
			go func() {
				time.Sleep(time.Millisecond)
				cancel(errors.New("gone"))
			}()
			if e := denied(t, th, ctx, call(), throttle.ErrBudget); !errors.Is(e, context.Canceled) {
				t.Fatalf("%v doesn't match context.Canceled", e)
			}
		}
		start := time.Now()
		goes(t, th, context.Background(), call()).Done()
		if got := time.Since(start); got != 900*time.Millisecond {
			t.Errorf("the next call went after %v, want 900ms: nothing of the cancelled ones may be left", got)
		}
	})
}

func TestARefundLetsAWaitingCallGoAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Budgets: budget(throttle.Tokens(1000, time.Minute)), Lanes: patient()})
		first := goes(t, th, context.Background(), tokens(900))
		go func() {
			time.Sleep(3 * time.Second)
			first.Settle(throttle.Cost{InputTokens: 10})
		}()
		start := time.Now()
		goes(t, th, context.Background(), tokens(900)).Done()
		if got := time.Since(start); got != 3*time.Second {
			t.Errorf("the waiting call went after %v, want 3s, with the refund", got)
		}
	})
}

func TestASmallerCallIsNotHeldBackOnALimitThatTheFirstDoesNotLack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Budgets: budget(throttle.Requests(10, time.Minute), throttle.Tokens(1000, time.Minute)), Lanes: patient(),
		})
		goes(t, th, context.Background(), tokens(900)).Done()
		ctx, cancel := context.WithCancel(context.Background())
		go func() { _, _ = th.Acquire(ctx, tokens(800)) }()
		synctest.Wait()
		goes(t, th, context.Background(), call()).Done() // needs no tokens
		if p, err := tryNow(t, th, tokens(50)); err == nil {
			p.Done()
			t.Error("a call that needs tokens went ahead of one that waits for tokens")
		}
		cancel()
		synctest.Wait()
		p, err := tryNow(t, th, tokens(50))
		if err != nil {
			t.Errorf("once the big call has left: %v", err)
		}
		p.Done()
	})
}

func TestTheQueueIsBoundedAndACancelledWaiterLeavesItsPlaceAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Budgets:    budget(throttle.Requests(1, time.Minute).Using(throttle.TokenBucket)),
			Lanes:      patient(),
			QueueLimit: 1,
		})
		goes(t, th, context.Background(), call()).Done()
		ctx, cancel := context.WithCancel(context.Background())
		wait := func(ctx context.Context) {
			go func() { _, _ = th.Acquire(ctx, call()) }()
			synctest.Wait()
		}
		wait(ctx)
		e := denied(t, th, context.Background(), call(), throttle.ErrQueueFull)
		if e.RetryAfter <= 0 {
			t.Errorf("RetryAfter is %v", e.RetryAfter)
		}
		cancel()
		synctest.Wait()
		ctx, cancel = context.WithCancel(context.Background())
		wait(ctx) // waiter 2 takes the place
		denied(t, th, context.Background(), call(), throttle.ErrQueueFull)
		cancel()
	})
}

func TestCloseTurnsWaitingCallsAway(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Budgets: budget(throttle.Requests(1, time.Minute).Using(throttle.TokenBucket)), Lanes: patient(),
		})
		p := goes(t, th, context.Background(), call())
		errs := make(chan error, 3)
		for range cap(errs) {
			go func() {
				_, err := th.Acquire(context.Background(), call())
				errs <- err
			}()
		}
		synctest.Wait()
		_ = th.Close()
		for range cap(errs) {
			if err := <-errs; !errors.Is(err, throttle.ErrClosed) {
				t.Errorf("a waiting call got %v", err)
			}
		}
		denied(t, th, context.Background(), call(), throttle.ErrClosed)
		p.Done()
		_ = th.Close()
	})
}

func TestRoomGivenBackInAnotherProcessIsUsedAtOnce(t *testing.T) {
	for _, account := range []bool{false, true} {
		eachStore(t, func(t *testing.T, fl fleet) {
			cfg := throttle.Config{Lanes: []lanes.Lane{{Name: "live", Share: 1, Wait: -1}}}
			if limits := []throttle.Limit{throttle.Tokens(100, 24*time.Hour)}; account {
				cfg.Account = limits
			} else {
				cfg.Budgets = budget(limits...)
			}
			a, b := cfg, cfg
			a.Store, b.Store = fl.open(t), fl.open(t)
			first, second := newThrottle(t, a), newThrottle(t, b)
			p := goes(t, first, context.Background(), tokens(100))
			c := tokens(50)
			if account {
				c.Model = "another"
			}
			went := make(chan throttle.Permit)
			go func() { went <- goes(t, second, context.Background(), c) }()
			for s, _ := second.Status(context.Background()); s.Waiting == 0; s, _ = second.Status(context.Background()) {
				runtime.Gosched()
			}
			p.Cancel()
			select {
			case p = <-went: // by time alone it would be tomorrow
				p.Done()
			case <-time.After(10 * time.Second):
				t.Fatal("the room that was given back is not used")
			}
		})
	}
}

func TestThoseBehindACallThatLeavesGoAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Budgets: budget(throttle.Tokens(100, time.Minute).Using(throttle.TokenBucket)), Lanes: patient()})
		goes(t, th, context.Background(), tokens(50)).Done()
		ctx, cancel := context.WithCancel(context.Background())
		go func() { _, _ = th.Acquire(ctx, tokens(90)) }()
		synctest.Wait()
		start := time.Now()
		go func() {
			time.Sleep(time.Second)
			cancel()
		}()
		goes(t, th, context.Background(), tokens(20)).Done()
		if got := time.Since(start); got != time.Second {
			t.Errorf("the small call went after %v, want 1s, when the big one ahead had left", got)
		}
	})
}
