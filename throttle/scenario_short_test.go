package throttle

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

// Amounts that are short by little, and prices that are no whole number.

// Many callers who lack a single token aren't told to come back at once, and
// don't ask again and again.
func TestAShortageOfOneTokenMakesNobodySpin(t *testing.T) { // B139
	const tpm, callers, lasts = 90_000, 500, 10 * time.Second
	for _, algorithm := range []Algorithm{TokenBucket, GCRA} {
		synctest.Test(t, func(t *testing.T) {
			store := &countingStore{Store: NewMemoryStore()}
			th := testThrottle(t, Config{
				Store:   &remoteStore{countingStore{Store: store}},
				Lanes:   []lanes.Lane{{Name: "now", Share: 1, Wait: -1}},
				Budgets: testBudget(Tokens(tpm, time.Minute).Using(algorithm)),
			})
			all := Call{Key: "k", Model: "m", Cost: Cost{InputTokens: tpm}}
			p, err := th.Acquire(context.Background(), all)
			if err != nil {
				t.Fatal(err)
			}
			p.Done()
			hurried, stop := context.WithTimeout(context.Background(), time.Microsecond)
			defer stop()
			one := Call{Key: "k", Model: "m", Cost: Cost{InputTokens: 1}}
			if e := th.Check(hurried, one); e == nil {
				t.Error("a call goes that lacks a token")
			} else if wait := e.(*DeniedError).RetryAfter; wait <= 0 {
				t.Errorf("a token that is short takes %v to come", wait)
			}
			ctx, cancel := context.WithTimeout(context.Background(), lasts)
			defer cancel()
			before := store.claims.Load()
			var went sync.WaitGroup
			var mu sync.Mutex
			n := int64(0)
			for range callers {
				went.Go(func() {
					for ctx.Err() == nil {
						p, err := th.Acquire(ctx, one)
						if err != nil {
							return
						}
						p.Done()
						mu.Lock()
						n++
						mu.Unlock()
					}
				})
			}
			went.Wait()
			want := int64(tpm * lasts.Seconds() / 60)
			if n < want*99/100 || n > want+1 {
				t.Errorf("%v: %d calls went, want %d", algorithm, n, want)
			}
			if claims := store.claims.Load() - before; claims > 2*n+callers {
				t.Errorf("%v: %d claims for %d calls", algorithm, claims, n)
			}
		})
	}
}

// A cost in money is rounded up to whole micro-dollars, and the store never sees
// anything else. Costs in other units are whole numbers by their type.
func TestAFractionalPriceIsRoundedUp(t *testing.T) { // B137
	th := testThrottle(t, Config{Budgets: []Budget{{
		Models: []string{"m"}, Limits: []Limit{Dollars(1, 24*time.Hour)}, Price: Price{Input: 0.1, Output: 0.3},
	}}})
	for i, tt := range []struct {
		cost Cost
		want int64
	}{
		{Cost{InputTokens: 1}, 1},                    // 0.1
		{Cost{InputTokens: 127}, 13},                 // 12.7
		{Cost{InputTokens: 9, OutputTokens: 1}, 2},   // 1.2
		{Cost{InputTokens: 10, OutputTokens: 10}, 4}, // 4.0
	} {
		before := usedMoney(t, th)
		p, err := th.Acquire(context.Background(), Call{Key: "k", Model: "m", Cost: tt.cost})
		if err != nil {
			t.Fatal(err)
		}
		p.Done()
		if got := usedMoney(t, th) - before; got != tt.want {
			t.Errorf("%d: %+v costs %d micro-dollars, want %d", i, tt.cost, got, tt.want)
		}
	}
}

func usedMoney(t *testing.T, th *Throttle) int64 {
	t.Helper()
	q, _ := th.queueFor(&Call{Key: "k", Model: "m"})
	answers, err := th.store.look(context.Background(), []claim{{account: q.a.id, budget: q.id, limits: q.limits, own: q.own, dry: true}})
	if err != nil {
		t.Fatal(err)
	}
	if used := answers[0].used[0]; used != float64(int64(used)) {
		t.Errorf("%v micro-dollars are used", used)
	}
	return int64(answers[0].used[0])
}
