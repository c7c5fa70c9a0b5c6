package throttle_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// When the calls of a queue leave, by algorithm, three at a time allowed in
// nine seconds, from the beginning of a window.
func TestEachAlgorithmLetsAQueueThroughAtItsOwnPace(t *testing.T) {
	const second = time.Second
	for _, tt := range []struct {
		limit throttle.Limit
		want  []time.Duration
	}{
		{throttle.Requests(3, 9*second), []time.Duration{0, 0, 0, 12 * second, 15 * second, 18 * second, 22500 * time.Millisecond}},
		{throttle.Requests(3, 9*second).Using(throttle.FixedWindow), []time.Duration{0, 0, 0, 9 * second, 9 * second, 9 * second, 18 * second}},
		// A unit counts to the end of its slot of 9 ms.
		{throttle.Requests(3, 9*second).Using(throttle.SlidingLog), []time.Duration{0, 0, 0, 9009 * time.Millisecond, 9009 * time.Millisecond, 9009 * time.Millisecond, 18018 * time.Millisecond}},
		{throttle.Requests(3, 9*second).Using(throttle.TokenBucket), []time.Duration{0, 0, 0, 3 * second, 6 * second, 9 * second, 12 * second}},
		{throttle.Requests(3, 9*second).Using(throttle.GCRA).WithBurst(2), []time.Duration{0, 0, 3 * second, 6 * second, 9 * second, 12 * second, 15 * second}},
		{throttle.Requests(3, 9*second).Using(throttle.GCRA).WithBurst(1), []time.Duration{0, 3 * second, 6 * second, 9 * second, 12 * second, 15 * second, 18 * second}},
	} {
		inBubble(t, func(t *testing.T) {
			th := newThrottle(t, throttle.Config{Budgets: budget(tt.limit), Lanes: patient()})
			time.Sleep(9*second - time.Duration(time.Now().UnixNano())%(9*second))
			seen := newArrivals()
			var wg sync.WaitGroup
			for range tt.want {
				wg.Go(func() {
					goes(t, th, context.Background(), call()).Done()
					seen.note()
				})
			}
			wg.Wait()
			if got := seen.all(); !slices.Equal(got, tt.want) {
				t.Errorf("%v, burst %d: calls went at %v, want %v", tt.limit.Algorithm, tt.limit.Burst, got, tt.want)
			}
		})
	}
}

func TestPacingIsSmooth(t *testing.T) { // B121, and 20 SMS a second
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Budgets: budget(throttle.Requests(20, time.Second).Using(throttle.GCRA).WithBurst(1)), Lanes: patient(),
		})
		seen := newArrivals()
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				goes(t, th, context.Background(), call()).Done()
				seen.note()
			})
		}
		wg.Wait()
		for i, at := range seen.all() {
			if at != time.Duration(i)*50*time.Millisecond {
				t.Fatalf("call %d went at %v", i, at)
			}
		}
	})
}

func TestADaysAndASecondsWindowHoldTogether(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: budget(
			throttle.Requests(100, 24*time.Hour).Using(throttle.FixedWindow),
			throttle.Requests(10, time.Second).Using(throttle.SlidingLog),
		)})
		start := time.Now() // midnight
		for range 100 {
			goes(t, th, context.Background(), call()).Done()
		}
		if got := time.Since(start); got < 9*time.Second || got > 10*time.Second {
			t.Errorf("a hundred at ten a second took %v", got)
		}
		e := denied(t, th, background(context.Background()), call(), throttle.ErrBudget)
		if want := 24*time.Hour - time.Since(start); e.RetryAfter != want {
			t.Errorf("come back in %v, want %v", e.RetryAfter, want)
		}
	})
}

func TestAnOffsetMovesTheWindows(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		limit := throttle.Requests(1, 24*time.Hour).Using(throttle.FixedWindow)
		limit.Offset = 8 * time.Hour // midnight Pacific, in winter
		th := newThrottle(t, throttle.Config{Budgets: budget(limit), Lanes: patient()})
		goes(t, th, context.Background(), call()).Done()
		if e := denied(t, th, background(context.Background()), call(), throttle.ErrBudget); e.RetryAfter != 8*time.Hour {
			t.Errorf("come back in %v, want 8h", e.RetryAfter)
		}
	})
}

func TestPerModelBudgetsAreApartAndPatternsShareOtherwise(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{Store: fl.open(t), Lanes: patient(), Budgets: []throttle.Budget{
			{Name: "each", Models: []string{"org/*/chat*"}, PerModel: true, Limits: []throttle.Limit{throttle.Requests(1, 24*time.Hour)}},
			{Name: "all", Models: []string{"org/*"}, Limits: []throttle.Limit{throttle.Requests(1, 24*time.Hour)}},
		}})
		for i, tt := range []struct {
			model string
			goes  bool
		}{
			{"org/a/chat", true}, {"org/a/chat", false}, {"org/b/c/chat-2", true}, {"org/b/c/chat-2", false},
			{"org/embed", true}, {"org/rerank", false},
		} {
			p, err := tryNow(t, th, throttle.Call{Key: key, Model: tt.model})
			if (err == nil) != tt.goes {
				t.Errorf("call %d, %s: %v", i, tt.model, err)
			}
			if err == nil && i == 0 {
				defer p.Done()
				continue
			}
			p.Done()
		}
		// A pause of one model's budget is its own, too.
		other := throttle.Call{Key: key, Model: "org/c/chat"}
		answer(t, th, other, busy(time.Minute))
		denied(t, th, background(context.Background()), other, throttle.ErrPaused)
		goes(t, th, context.Background(), throttle.Call{Key: key, Model: "org/d/chat"}).Done()
	})
}
