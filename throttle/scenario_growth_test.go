package throttle_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/throttle"
	"github.com/redis/go-redis/v9"
)

// After any amount of waiting there is as much as there was before: of
// goroutines, which timers and tickers in loops would show as, of heap, and of
// keys.
func TestWaitingLeavesNothingBehind(t *testing.T) { // B158
	t.Run("memory", func(t *testing.T) {
		soak(t, throttle.NewMemoryStore(), func() int { return 0 })
	})
	t.Run("redis", func(t *testing.T) {
		server := redistest.Start(t)
		client := server.Client(t)
		fl := fleetOf(func(testing.TB) redis.UniversalClient { return client }, server.KeysWithoutExpiry)
		soak(t, fl.open(t), func() int { return int(client.DBSize(context.Background()).Val()) })
		everyKeyExpires(t, fl)
	})
}

func soak(t *testing.T, store throttle.Store, keys func() int) {
	th := newThrottle(t, throttle.Config{Store: store, Lanes: patient(), Budgets: budget(
		throttle.Requests(20, 10*time.Millisecond), throttle.Tokens(2000, 20*time.Millisecond).Using(throttle.TokenBucket), throttle.Requests(40, 15*time.Millisecond).Using(throttle.SlidingLog),
	)})
	wait := func(calls int) {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				for n := range calls / 50 {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+(i+n)%40)*time.Millisecond)
					if p, err := th.Acquire(ctx, tokens(int64(n%20))); err == nil {
						p.Settle(throttle.Cost{InputTokens: int64(i % 20)})
					}
					cancel()
				}
			})
		}
		wg.Wait()
	}
	wait(2000)
	goroutines, heap, known := runtime.NumGoroutine(), heapInUse(), keys()
	wait(6000)
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines && time.Now().Before(deadline); { // those that are ending
		time.Sleep(time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines+2 {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
	if n := heapInUse(); n > heap+1<<20 {
		t.Errorf("%d bytes in use, %d before", n, heap)
	}
	if n := keys(); n > known {
		t.Errorf("%d keys, %d before", n, known)
	}
	if s, _ := th.Status(context.Background()); s.Waiting > 0 {
		t.Errorf("%d calls still wait", s.Waiting)
	}
}
