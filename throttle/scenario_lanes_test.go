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
	"github.com/headgate-go/headgate/throttle"
)

// Lanes: ceilings, priority, and who goes without.

// crowd has a number of callers of one lane want calls until the context ends.
// Those that may not wait come back sooner than they are told.
func crowd(ctx context.Context, wg *sync.WaitGroup, th *throttle.Throttle, n int, lane lanes.Lane, went func()) {
	for range n {
		wg.Go(func() {
			c := call()
			c.Lane = lane
			for ctx.Err() == nil {
				p, err := th.Acquire(ctx, c)
				if err != nil {
					again := retryAfter(err)
					if lane.Wait == 0 {
						again = min(again, 500*time.Millisecond)
					}
					_ = sleepUntil(ctx, again)
					continue
				}
				went()
				time.Sleep(200 * time.Millisecond) // the vendor's answer
				p.Done()
			}
		})
	}
}

// retryAfter is when a caller that was denied comes back.
func retryAfter(err error) time.Duration {
	var e *throttle.DeniedError
	if errors.As(err, &e) {
		return max(e.RetryAfter, time.Millisecond)
	}
	return time.Second
}

func sleepUntil(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func TestBackgroundAloneDrawsItsShareAndLeavesLiveTheWhole(t *testing.T) { // B141
	for _, algorithm := range everyAlgorithm {
		inBubble(t, func(t *testing.T) {
			limit := throttle.Requests(60, time.Minute).Using(algorithm)
			if algorithm == throttle.TokenBucket || algorithm == throttle.GCRA {
				limit = limit.WithBurst(1)
			}
			th := newThrottle(t, throttle.Config{Budgets: budget(limit)})
			time.Sleep(time.Minute - time.Duration(time.Now().UnixNano())%time.Minute)
			ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
			defer cancel()
			low, high := newArrivals(), newArrivals()
			var wg sync.WaitGroup
			crowd(ctx, &wg, th, 4, lanes.Background, low.note)
			time.Sleep(4 * time.Minute)
			crowd(ctx, &wg, th, 70, lanes.Live, high.note)
			wg.Wait()

			alone := low.between(0, 4*time.Minute)
			if alone > 36*4+2 || alone < 34*4 {
				t.Errorf("%v: background alone got %d in four minutes, want 36 a minute", algorithm, alone)
			}
			// Once the minute is over in which background had the whole limit to
			// itself, live has what it wants, but for what the four callers of
			// background draw at the instant at which a window begins.
			if n := high.between(5*time.Minute, 8*time.Minute); n < 55*3 {
				t.Errorf("%v: live got %d in three minutes, want 60 a minute", algorithm, n)
			}
			if n := low.between(4*time.Minute, 8*time.Minute) + high.between(4*time.Minute, 8*time.Minute); n > 60*4+2 {
				t.Errorf("%v: %d went in four minutes of 60", algorithm, n)
			}
		})
	}
}

// The first live call after background has had all it may comes with the room
// that is left, not behind it.
func TestLiveGoesAtOnceWhereBackgroundHasTakenItsShare(t *testing.T) { // B141, B145
	eachStore(t, func(t *testing.T, fl fleet) {
		cfg := throttle.Config{Budgets: budget(throttle.Requests(100, 24*time.Hour), throttle.Requests(100, 24*time.Hour).Using(throttle.TokenBucket))}
		var fleet []*throttle.Throttle
		for range 5 {
			c := cfg
			c.Store = fl.open(t)
			fleet = append(fleet, newThrottle(t, c))
		}
		var went atomic.Int64
		var wg sync.WaitGroup
		for i := range 120 { // of four processes
			wg.Go(func() {
				if p, err := fleet[i%4].Acquire(background(context.Background()), call()); err == nil {
					went.Add(1)
					p.Done()
				}
			})
		}
		wg.Wait()
		if n := went.Load(); n != 60 {
			t.Errorf("%d background calls of four processes went, want 60", n)
		}
		for range 40 {
			goes(t, fleet[4], context.Background(), call()).Done()
		}
		denied(t, fleet[4], context.Background(), call(), throttle.ErrBudget)
	})
}

func TestALiveCallIsNextWhoeverWaitsInTheBackgroundElsewhere(t *testing.T) { // B145
	inBubble(t, func(t *testing.T) {
		patientBackground := lanes.Lane{Name: "background", Share: 0.6, Wait: -1}
		cfg := throttle.Config{
			Store: throttle.NewMemoryStore(), Lanes: []lanes.Lane{lanes.Live, patientBackground},
			Budgets: budget(throttle.Requests(60, time.Minute).Using(throttle.TokenBucket).WithBurst(10)),
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 4 {
			crowd(ctx, &wg, newThrottle(t, cfg), 20, patientBackground, func() {})
		}
		time.Sleep(5 * time.Minute)
		th := newThrottle(t, cfg)
		for { // what others left
			p, err := tryLive(th)
			if err != nil {
				break
			}
			p.Done()
		}
		start := time.Now()
		goes(t, th, context.Background(), call()).Done()
		if got := time.Since(start); got > time.Second {
			t.Errorf("a live call went after %v, want within the next second's refill", got)
		}
		cancel()
		wg.Wait()
	})
}

// tryLive asks for a live call that can't wait.
func tryLive(th *throttle.Throttle) (throttle.Permit, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Microsecond)
	defer cancel()
	return th.Acquire(ctx, call())
}

func TestBackgroundBehindLiveIsRefusedInTimeAndNotParked(t *testing.T) { // B142
	inBubble(t, func(t *testing.T) {
		waits := lanes.Lane{Name: "waits", Share: 0.6, Wait: 30 * time.Second}
		th := newThrottle(t, throttle.Config{
			Lanes: []lanes.Lane{lanes.Live, waits, lanes.Background}, Budgets: budget(throttle.Requests(60, time.Minute).Using(throttle.TokenBucket).WithBurst(1)),
		})
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		crowd(ctx, &wg, th, 30, lanes.Live, func() {})
		time.Sleep(time.Minute)
		for range 5 {
			wg.Go(func() {
				start := time.Now()
				p, err := th.Acquire(lanes.With(ctx, waits), call())
				p.Done()
				if got := time.Since(start); got > 30*time.Second {
					t.Errorf("a background call was kept for %v: %v", got, err)
				}
			})
		}
		denied(t, th, background(ctx), call(), throttle.ErrBudget)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if s, _ := th.Status(ctx); s.Waiting > 30 {
			t.Errorf("%d calls wait, want the thirty live ones at most", s.Waiting)
		}
		wg.Wait()
	})
}
