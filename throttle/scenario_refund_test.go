package throttle_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// Refunds and cancelled calls: what limiters have done wrong in public.

func TestExpiredWaitersLeaveNoDebt(t *testing.T) { // B01
	for _, algorithm := range everyAlgorithm {
		t.Run(algorithm.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				th := newThrottle(t, throttle.Config{
					Budgets: budget(throttle.Requests(60, time.Minute).Using(algorithm)), Lanes: patient(),
				})
				seen := newArrivals()
				var wg sync.WaitGroup
				for range 500 {
					wg.Go(func() {
						ctx, cancel := context.WithTimeout(context.Background(), time.Second)
						defer cancel()
						if p, err := th.Acquire(ctx, call()); err == nil {
							seen.note()
							p.Done()
						}
					})
				}
				wg.Wait()
				start := time.Now()
				ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
				defer cancel()
				goes(t, th, ctx, call()).Done()
				seen.note()
				// The bucket gives one each second; the window waits for its end.
				if wait := time.Since(start); algorithm == throttle.TokenBucket && wait > 2*time.Second {
					t.Errorf("the next call waited %v", wait)
				}
				if n := seen.between(0, time.Minute); algorithm == throttle.SlidingWindow && n > 60 {
					t.Errorf("%d calls in a minute of 60", n)
				}
			})
		})
	}
}

func TestARefundGoesToTheWindowThatWasCharged(t *testing.T) { // B02
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Budgets: budget(throttle.Tokens(10_000, time.Minute)), Lanes: patient()})
		sinceMinute := time.Duration(time.Now().UnixNano()) % time.Minute
		time.Sleep(time.Minute - sinceMinute + 55*time.Second)
		slow := goes(t, th, context.Background(), tokens(8000))
		time.Sleep(65 * time.Second) // into the next but one window: forgotten
		other := goes(t, th, context.Background(), tokens(9000))
		slow.Settle(throttle.Cost{})
		if used := usedOf(t, th, 10_000); used != 9000 {
			t.Errorf("%d are used after the late refund, want 9000", used)
		}
		other.Cancel()
	})
}

func TestARefundInTheNextWindowFreesWhatIsStillCarried(t *testing.T) { // B02's neighbour
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Budgets: budget(throttle.Tokens(10_000, time.Minute)), Lanes: patient()})
		sinceMinute := time.Duration(time.Now().UnixNano()) % time.Minute
		time.Sleep(time.Minute - sinceMinute + 30*time.Second)
		slow := goes(t, th, context.Background(), tokens(8000))
		time.Sleep(60 * time.Second) // half of the next window: 4000 carried
		goes(t, th, context.Background(), tokens(1000)).Done()
		if used := usedOf(t, th, 10_000); used != 5000 {
			t.Fatalf("%d are used before the refund, want 5000", used)
		}
		slow.Settle(throttle.Cost{})
		if used := usedOf(t, th, 10_000); used != 1000 {
			t.Errorf("%d are used after the refund, want 1000", used)
		}
	})
}

func TestSettlementDoesNotNeedTheCallersContext(t *testing.T) { // B02
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{
			Store: fl.open(t), Lanes: patient(), Budgets: budget(throttle.Tokens(1000, 24*time.Hour)),
		})
		ctx, cancel := context.WithCancel(context.Background())
		p := goes(t, th, ctx, tokens(1000))
		cancel()
		p.Settle(throttle.Cost{InputTokens: 10})
		if used := usedOf(t, th, 1000); used != 10 {
			t.Errorf("%d are used, want 10", used)
		}
	})
}

func TestRefusedCallsLeaveNothingInTheCounter(t *testing.T) { // B03
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{
			Store: fl.open(t), Lanes: patient(), Budgets: budget(throttle.Tokens(1000, 24*time.Hour)),
		})
		var mu sync.Mutex
		var admitted []throttle.Permit
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
				defer cancel()
				if p, err := th.Acquire(ctx, tokens(900)); err == nil {
					mu.Lock()
					defer mu.Unlock()
					admitted = append(admitted, p)
				}
			})
		}
		wg.Wait()
		if len(admitted) != 1 {
			t.Fatalf("%d calls went, want 1", len(admitted))
		}
		admitted[0].Settle(throttle.Cost{InputTokens: 10})
		if used := usedOf(t, th, 1000); used != 10 {
			t.Errorf("%d are used, want 10", used)
		}
		goes(t, th, context.Background(), tokens(900)).Done()
	})
}

func TestASecondLimitThatRefusesGivesTheFirstItsUnitBack(t *testing.T) { // B04
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{
			Store: fl.open(t), Lanes: patient(),
			Budgets: budget(throttle.Requests(10, 24*time.Hour), throttle.Tokens(100, 24*time.Hour)),
		})
		for range 50 {
			if p, err := tryNow(t, th, tokens(500)); err == nil {
				p.Done()
				t.Fatal("500 tokens of 100 went")
			}
		}
		for i := range 10 {
			if p, err := tryNow(t, th, tokens(10)); err != nil {
				t.Fatalf("small call %d: %v", i, err)
			} else {
				p.Done()
			}
		}
	})
}

func TestAContextThatHasEndedTakesNothing(t *testing.T) { // B06
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{Store: fl.open(t), Budgets: budget(throttle.Requests(1, 24*time.Hour))})
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := th.Acquire(ctx, call()); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled context got %v", err)
		}
		goes(t, th, context.Background(), call()).Done()
	})
}

func TestCallsThatWereNeverChargedGiveNothingBack(t *testing.T) { // B08
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{
			Store: fl.open(t), Lanes: patient(), Budgets: budget(throttle.Requests(10, 24*time.Hour)),
		})
		for range 100 {
			ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
			p, err := th.Acquire(ctx, call())
			cancel()
			if err == nil {
				t.Fatal("an expired context was admitted")
			}
			p.Cancel()
			p.Settle(throttle.Cost{})
		}
		went := 0
		for range 50 {
			p, err := tryNow(t, th, call())
			if err == nil {
				went++
				p.Done()
			} else {
				p.Cancel()
			}
		}
		if went != 10 {
			t.Errorf("%d calls went, want 10", went)
		}
	})
}

func TestRefusedWeightsLeaveNoRoundingBehind(t *testing.T) { // B11
	for _, amount := range []int64{30, 60, 100, 7, 13} {
		for _, algorithm := range everyAlgorithm {
			inBubble(t, func(t *testing.T) {
				th := newThrottle(t, throttle.Config{
					Budgets: budget(throttle.Requests(amount, time.Minute).Using(algorithm)), Lanes: patient(),
				})
				three := call()
				three.Cost.Requests = 3
				for range amount - 1 {
					goes(t, th, context.Background(), call()).Done()
				}
				for range 50 {
					if p, err := tryNow(t, th, three); err == nil {
						p.Done()
						t.Fatalf("%v of %d: three went where one was left", algorithm, amount)
					}
				}
				if p, err := tryNow(t, th, call()); err != nil {
					t.Errorf("%v of %d: the last one: %v", algorithm, amount, err)
				} else {
					p.Done()
				}
			})
		}
	}
}

func TestThousandsOfCancelsUnderLoadLeaveNothing(t *testing.T) { // B01, B13 and B150, with the race detector
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{
			Store: fl.open(t), Lanes: patient(),
			Budgets: budget(throttle.Requests(100, 24*time.Hour), throttle.Tokens(100_000, 24*time.Hour)),
		})
		var wg sync.WaitGroup
		for i := range 3000 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%40)*time.Millisecond)
				defer cancel()
				if p, err := th.Acquire(ctx, tokens(int64(i%50))); err == nil {
					p.Cancel()
				}
			})
		}
		wg.Wait()
		if s, _ := th.Status(context.Background()); s.Waiting != 0 {
			t.Errorf("%d calls still wait", s.Waiting)
		}
		for i := range 100 {
			if p, err := tryNow(t, th, tokens(1000)); err != nil {
				t.Fatalf("call %d afterwards: %v", i, err)
			} else {
				p.Done()
			}
		}
	})
}

func TestALateEndOfAForgottenChargeTakesNobodyElsesRoom(t *testing.T) { // B09
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Budgets: budget(throttle.Requests(5, 10*time.Second).Using(throttle.TokenBucket)), Lanes: patient(),
		})
		slow := goes(t, th, context.Background(), call())
		time.Sleep(5 * time.Minute)
		for range 5 {
			goes(t, th, context.Background(), call()).Done()
		}
		slow.Cancel()
		synctest.Wait()
		if p, err := tryNow(t, th, call()); err == nil {
			p.Done()
			t.Error("a sixth call went on a refund for one that was long forgotten")
		}
	})
}
