package throttle_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// Crowds: of callers, at Close and during a pause.

func TestCallsAndCloseMayMeetAtAnyMoment(t *testing.T) { // B154
	eachStore(t, func(t *testing.T, fl fleet) {
		store := fl.open(t)
		for range 20 {
			th := newThrottle(t, throttle.Config{Store: store, Lanes: patient(), Budgets: budget(throttle.Requests(1000, 24*time.Hour))})
			var wg sync.WaitGroup
			for i := range 16 {
				wg.Go(func() {
					for range 10 {
						p, err := th.Acquire(context.Background(), call())
						if err != nil && !errors.Is(err, throttle.ErrClosed) && !errors.Is(err, throttle.ErrBudget) {
							t.Error(err)
						}
						if i%2 == 0 {
							p.Cancel()
						} else {
							p.Settle(throttle.Cost{Requests: 2})
						}
					}
				})
			}
			for range 2 {
				wg.Go(func() {
					if err := th.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			denied(t, th, context.Background(), call(), throttle.ErrClosed)
			if err := th.Check(context.Background(), call()); err == nil {
				t.Error("a closed throttle lets calls through, it says")
			}
			_ = th.Close()
		}
		everyKeyExpires(t, fl)
	})
}

func TestASurplusDuringAPauseIsRefusedAtOnceAndLeavesNothing(t *testing.T) { // B156
	const places, surplus = 1000, 99_000
	before := heapInUse()
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Pause: noRamp, QueueLimit: places, Budgets: budget(throttle.Requests(10_000, time.Minute))})
		answer(t, th, call(), busy(time.Minute))
		var wg sync.WaitGroup
		for range places {
			wg.Go(func() { goes(t, th, context.Background(), call()).Done() })
		}
		synctest.Wait()
		start := time.Now()
		for range surplus {
			e := denied(t, th, context.Background(), call(), throttle.ErrQueueFull)
			if e.RetryAfter <= 0 {
				t.Fatal("nobody says when to come back")
			}
		}
		if got := time.Since(start); got > 0 {
			t.Errorf("the surplus was refused after %v", got)
		}
		if s, _ := th.Status(context.Background()); s.Waiting != places {
			t.Errorf("%d calls wait, want %d", s.Waiting, places)
		}
		wg.Wait()
		if got := time.Since(start); got != time.Minute {
			t.Errorf("those who waited went after %v, want a minute", got)
		}
		if s, _ := th.Status(context.Background()); s.Waiting != 0 {
			t.Errorf("%d calls still wait", s.Waiting)
		}
	})
	if grown := heapInUse() - before; grown > 4<<20 {
		t.Errorf("%d bytes are kept", grown)
	}
}

// heapInUse is what is left of the heap once nobody uses the rest.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // what pools kept through the first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
