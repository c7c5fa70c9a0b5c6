package throttle_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// Pauses: how long they last and who learns of them.

func busy(wait time.Duration) throttle.Verdict {
	return throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: wait}
}

// noRamp is a pause policy under which everything is as before at its end.
var noRamp = pause.Policy{Ramp: -1}

func TestTheLaterEndOfTwoPausesWins(t *testing.T) { // B27
	for _, order := range [][2]time.Duration{{time.Second, 20 * time.Second}, {20 * time.Second, time.Second}} {
		inBubble(t, func(t *testing.T) {
			th := newThrottle(t, throttle.Config{Lanes: patient(), Pause: noRamp})
			first, second := goes(t, th, context.Background(), call()), goes(t, th, context.Background(), call())
			start := time.Now()
			first.Answered(busy(order[0]))
			first.Done()
			time.Sleep(300 * time.Millisecond)
			second.Answered(busy(order[1]))
			second.Done()
			goes(t, th, context.Background(), call()).Done()
			want := 20 * time.Second
			if order[1] == want {
				want += 300 * time.Millisecond
			}
			if got := time.Since(start); got != want {
				t.Errorf("%v: the next call went after %v, want %v", order, got, want)
			}
		})
	}
}

func TestALateSuccessLiftsNoPause(t *testing.T) { // B28
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{Store: fl.open(t)})
		for _, verdict := range []throttle.Verdict{
			busy(time.Minute),
			{Class: throttle.Busy, Scope: throttle.ScopeKey, Wait: time.Minute},
			{Class: throttle.KeyRefused, Scope: throttle.ScopeKey},
		} {
			c := throttle.Call{Key: throttle.FingerprintOf(verdict.Class.String() + verdict.Scope.String()), Model: model}
			slow, refused := goes(t, th, context.Background(), c), goes(t, th, context.Background(), c)
			refused.Answered(verdict)
			refused.Done()
			slow.Answered(throttle.Verdict{Class: throttle.OK})
			slow.Done()
			if p, err := th.Acquire(background(context.Background()), c); err == nil {
				p.Done()
				t.Errorf("%v of %v was lifted by an older call's success", verdict.Class, verdict.Scope)
			}
		}
	})
}

func TestAPauseReachesEveryProcess(t *testing.T) { // B30
	eachStore(t, func(t *testing.T, fl fleet) {
		heard := make(chan throttle.Event, 10)
		cfg := throttle.Config{Budgets: budget(throttle.Requests(1000, time.Minute))}
		open := func() *throttle.Throttle {
			c := cfg
			c.Store = fl.open(t)
			c.Observe = func(e throttle.Event) {
				if e.Kind == throttle.EventPaused {
					heard <- e
				}
			}
			return newThrottle(t, c)
		}
		fleet := []*throttle.Throttle{open(), open(), open()}
		for _, th := range fleet {
			goes(t, th, background(context.Background()), call()).Done()
		}
		p := goes(t, fleet[0], context.Background(), call())
		p.Answered(busy(time.Minute))
		p.Done()
		for range fleet {
			e := <-heard
			if e.Wait > time.Minute || e.Wait < 59*time.Second {
				t.Errorf("a process heard of a pause of %v", e.Wait)
			}
		}
		for i, th := range fleet {
			e := denied(t, th, context.Background(), call(), throttle.ErrPaused)
			if e.RetryAfter > time.Minute || e.RetryAfter < 55*time.Second || e.Verdict.Class != throttle.Busy {
				t.Errorf("process %d: %+v", i, e)
			}
		}
		everyKeyExpires(t, fl)
	})
}

func TestAPauseOutlivesTheProcessThatWasTold(t *testing.T) { // B31
	eachStore(t, func(t *testing.T, fl fleet) {
		cfg := throttle.Config{Store: fl.open(t), Pause: pause.Policy{Max: time.Hour}}
		first := newThrottle(t, cfg)
		p := goes(t, first, context.Background(), call())
		p.Answered(busy(10 * time.Minute))
		p.Done()
		_ = first.Close()

		cfg.Store = fl.open(t)
		second := newThrottle(t, cfg)
		e := denied(t, second, context.Background(), call(), throttle.ErrPaused)
		if e.RetryAfter < 590*time.Second || e.RetryAfter > 600*time.Second {
			t.Errorf("come back in %v, want what is left of ten minutes", e.RetryAfter)
		}
	})
}

func TestAPauseIsNotLongerThanThePolicyAllowsNorIsItsRecord(t *testing.T) { // B42, B43
	eachStore(t, func(t *testing.T, fl fleet) {
		var raw time.Duration
		th := newThrottle(t, throttle.Config{
			Store: fl.open(t), Pause: noRamp,
			Observe: func(e throttle.Event) {
				if e.Kind == throttle.EventPaused {
					raw = e.Raw
				}
			},
		})
		p := goes(t, th, context.Background(), call())
		p.Answered(busy(86400 * time.Second))
		p.Done()
		e := denied(t, th, context.Background(), call(), throttle.ErrPaused)
		if e.RetryAfter > 5*time.Minute || e.RetryAfter < 4*time.Minute {
			t.Errorf("come back in %v, want at most five minutes", e.RetryAfter)
		}
		if raw != 86400*time.Second {
			t.Errorf("the event says that the vendor asked for %v", raw)
		}
		everyKeyExpires(t, fl)
	})
}

func TestAPauseWithoutAHintIsTheDefaultOne(t *testing.T) { // B35
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Pause: noRamp})
		for range 3 {
			p := goes(t, th, context.Background(), call())
			start := time.Now()
			p.Answered(busy(0))
			p.Done()
			goes(t, th, context.Background(), call()).Done()
			if got := time.Since(start); got != pause.DefaultWait {
				t.Errorf("the pause took %v, want %v", got, pause.DefaultWait)
			}
		}
	})
}

func TestAVendorsWaitIsNotCompounded(t *testing.T) { // B49
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Pause: noRamp})
		for range 10 {
			p := goes(t, th, context.Background(), call())
			start := time.Now()
			p.Answered(busy(10 * time.Second))
			p.Done()
			goes(t, th, context.Background(), call()).Done()
			if got := time.Since(start); got != 10*time.Second {
				t.Errorf("the pause took %v", got)
			}
		}
	})
}

func TestWaitersComeBackByTheRampAndTheBudget(t *testing.T) { // B33
	inBubble(t, func(t *testing.T) {
		store := throttle.NewMemoryStore()
		seen := newArrivals()
		var wg sync.WaitGroup
		var fleet []*throttle.Throttle
		for range 4 {
			fleet = append(fleet, newThrottle(t, throttle.Config{
				Store: store, Lanes: patient(), Budgets: budget(throttle.Requests(60, time.Minute).Using(throttle.TokenBucket)),
			}))
		}
		p := goes(t, fleet[0], context.Background(), call())
		p.Answered(busy(5 * time.Second))
		p.Done()
		seen.start = time.Now()
		for i := range 200 {
			wg.Go(func() {
				goes(t, fleet[i%4], context.Background(), call()).Done()
				seen.note()
			})
		}
		wg.Wait()
		if n := seen.between(0, 5*time.Second); n > 0 {
			t.Errorf("%d calls went during the pause", n)
		}
		// K = 60/min * 5 s = 5: k calls have left after 5 s * sqrt(2k/5).
		for at, most := range map[time.Duration]int{0: 1, 3 * time.Second: 1, 4 * time.Second: 2, 4900 * time.Millisecond: 3} {
			if n := seen.between(5*time.Second, 5*time.Second+at+1); n > most {
				t.Errorf("%d calls went within %v of the end, want at most %d", n, at, most)
			}
		}
		for from := 5 * time.Second; from < 3*time.Minute; from += time.Second {
			if n := seen.between(from, from+time.Minute); n > 120 {
				t.Errorf("%d calls in the minute from %v, where a bucket of 60 lets 120 through", n, from)
			}
		}
	})
}

func TestARoundOfRefusalsAfterAPauseCostsAHandfulOfCalls(t *testing.T) { // B34
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: budget(throttle.Requests(600, time.Minute))})
		refuse := time.Now().Add(16 * time.Second) // three rounds of five seconds
		var mu sync.Mutex
		refused := 0
		var wg sync.WaitGroup
		send := func() bool {
			p := goes(t, th, context.Background(), call())
			defer p.Done()
			time.Sleep(50 * time.Millisecond) // the way to the vendor and back
			if !time.Now().Before(refuse) {
				return true
			}
			mu.Lock()
			refused++
			mu.Unlock()
			p.Answered(busy(5 * time.Second))
			return false
		}
		send()
		for range 300 {
			wg.Go(func() {
				for !send() {
				}
			})
		}
		wg.Wait()
		if refused > 4+2*3 {
			t.Errorf("%d calls were refused in four rounds", refused)
		}
	})
}

func TestAPausedModelDoesNotHoldUpAnother(t *testing.T) { // B37
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient()})
		a, b := call(), call()
		a.Model, b.Model = "model-a", "model-b"
		p := goes(t, th, context.Background(), a)
		p.Answered(busy(time.Minute))
		p.Done()
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() { goes(t, th, context.Background(), a).Done() })
		}
		synctest.Wait()
		start := time.Now()
		for range 10 {
			goes(t, th, context.Background(), b).Done()
		}
		if got := time.Since(start); got != 0 {
			t.Errorf("model-b's calls took %v", got)
		}
		wg.Wait()
	})
}

func TestAKnownPauseCostsNoRoundTripAndParksNobodyInVain(t *testing.T) { // B41, B70
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Pause: noRamp})
		p := goes(t, th, context.Background(), call())
		p.Answered(busy(time.Minute))
		p.Done()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		start := time.Now()
		e := denied(t, th, ctx, call(), throttle.ErrPaused)
		if time.Since(start) != 0 || e.RetryAfter != time.Minute {
			t.Errorf("after %v: come back in %v", time.Since(start), e.RetryAfter)
		}
	})
}

func TestWaitingCallsHonourAPauseThatComesWhileTheyWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Lanes: patient(), Pause: noRamp, Budgets: budget(throttle.Requests(1, time.Second).Using(throttle.TokenBucket)),
		})
		p := goes(t, th, context.Background(), call())
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { // its room would come after a second
			goes(t, th, context.Background(), call()).Done()
			if got := time.Since(start); got != 10*time.Second {
				t.Errorf("the waiting call went after %v, want 10s", got)
			}
		})
		wg.Go(func() { // and this one can't wait so long
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			denied(t, th, ctx, call(), throttle.ErrPaused)
			if got := time.Since(start); got != 0 {
				t.Errorf("the impatient call was refused after %v, want at once", got)
			}
		})
		synctest.Wait()
		p.Answered(busy(10 * time.Second))
		p.Done()
		wg.Wait()
	})
}
