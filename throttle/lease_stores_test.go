package throttle_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/throttle"
)

func TestProcessesWithLeasesUseExactlyTheBudget(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		c := throttle.Config{
			Lanes: patient(), Lease: leasing.Policy{Chunk: 10, MaxAge: time.Hour},
			Budgets: budget(throttle.Requests(200, 24*time.Hour), throttle.Tokens(100_000, 24*time.Hour)),
			Account: []throttle.Limit{throttle.Requests(1000, 24*time.Hour).Using(throttle.TokenBucket)},
		}
		fleet := processes(t, fl, 2, c)
		var went atomic.Int64
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for range 40 {
					if p, err := tryNow(t, fleet[i%2], tokens(10)); err == nil {
						went.Add(1)
						p.Settle(throttle.Cost{InputTokens: 4, OutputTokens: 3})
					}
				}
			})
		}
		wg.Wait()
		if n := went.Load(); n > 200 {
			t.Errorf("%d calls of 200 went", n)
		}
		everyKeyExpires(t, fl)
		for _, th := range fleet {
			_ = th.Close() // what they hold is back
		}
		last := processes(t, fl, 1, c)[0]
		for range 201 {
			if p, err := tryNow(t, last, call()); err == nil {
				went.Add(1)
				p.Done()
			}
		}
		if n := went.Load(); n != 200 {
			t.Errorf("%d calls of 200 went in all", n)
		}
	})
}

func TestAPauseReachesProcessesThatSpendLeases(t *testing.T) { // B30
	eachStore(t, func(t *testing.T, fl fleet) {
		fleet := processes(t, fl, 3, throttle.Config{
			Lanes: patient(), Lease: leasing.Policy{Chunk: 10_000, MaxAge: time.Hour},
			Budgets: budget(throttle.Requests(10_000_000, 24*time.Hour)),
		})
		for _, th := range fleet {
			for range 3 {
				goes(t, th, context.Background(), call()).Done()
			}
		}
		p := goes(t, fleet[0], context.Background(), call())
		p.Answered(busy(time.Minute))
		p.Done()
		start := time.Now()
		for i, th := range fleet {
			for {
				p, err := tryNow(t, th, call())
				p.Done()
				if errors.Is(err, throttle.ErrPaused) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 || time.Since(start) > 5*time.Second {
					t.Fatalf("process %d still sends %v after the vendor's word", i, time.Since(start))
				}
			}
		}
	})
}
