package throttle_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

func TestFiftyGoroutinesForTenPlacesTwentyTimes(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		for round := range 20 {
			cfg := throttle.Config{Lanes: patient(), Budgets: []throttle.Budget{{
				Name: fmt.Sprint("round ", round), Models: []string{model},
				Limits: []throttle.Limit{throttle.Requests(10, 24*time.Hour)},
			}}}
			a, b := cfg, cfg
			a.Store, b.Store = fl.open(t), fl.open(t)
			throttles := []*throttle.Throttle{newThrottle(t, a), newThrottle(t, b)}
			var went atomic.Int64
			var wg sync.WaitGroup
			for i := range 50 {
				wg.Go(func() {
					if p, err := tryNow(t, throttles[i%2], call()); err == nil {
						went.Add(1)
						p.Done()
					}
				})
			}
			wg.Wait()
			if went.Load() != 10 {
				t.Fatalf("round %d: %d calls went, want 10", round, went.Load())
			}
		}
		everyKeyExpires(t, fl)
	})
}

func everyKeyExpires(t *testing.T, fl fleet) {
	t.Helper()
	if fl.keysWithoutExpiry == nil {
		return
	}
	if keys := fl.keysWithoutExpiry(t); len(keys) > 0 {
		t.Errorf("keys without an expiry: %q", keys)
	}
}

func TestAllLimitsMustHaveRoomAndARefusalChargesNone(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{
			Store: fl.open(t), Lanes: patient(),
			Budgets: budget(
				throttle.Requests(3, 24*time.Hour),
				throttle.Tokens(100, 24*time.Hour).Using(throttle.TokenBucket),
			),
			Account: []throttle.Limit{throttle.InputTokens(80, 24*time.Hour)},
		})
		for _, tt := range []struct {
			tokens int64
			limit  string // "": it goes
		}{
			{70, ""},
			{20, "80 input tokens per 24h0m0s"},
			{10, ""},
			{1, "80 input tokens per 24h0m0s"},
			{0, ""},
			{0, "3 requests per 24h0m0s"},
		} {
			p, err := tryNow(t, th, tokens(tt.tokens))
			if tt.limit == "" {
				if err != nil {
					t.Fatalf("%d tokens: %v", tt.tokens, err)
				}
				p.Done()
				continue
			}
			if e := deniedBy(t, p, err, throttle.ErrBudget); e.Limit != tt.limit {
				t.Fatalf("%d tokens: denied by %q, want %q", tt.tokens, e.Limit, tt.limit)
			}
		}
		everyKeyExpires(t, fl)
	})
}

func TestABudgetIsSharedAndOtherAccountsHaveTheirOwn(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		cfg := throttle.Config{Lanes: patient(), Budgets: []throttle.Budget{{
			Models: []string{"gpt-*", "o3"}, Limits: []throttle.Limit{throttle.Requests(2, 24*time.Hour)},
		}}}
		a, b := cfg, cfg
		a.Store, b.Store = fl.open(t), fl.open(t)
		first, second := newThrottle(t, a), newThrottle(t, b)
		try := func(th *throttle.Throttle, c throttle.Call) error {
			p, err := tryNow(t, th, c)
			p.Done()
			return err
		}
		for i, tt := range []struct {
			th   *throttle.Throttle
			call throttle.Call
			goes bool
		}{
			{first, throttle.Call{Key: key, Model: "gpt-4o"}, true},
			{second, throttle.Call{Key: key, Model: "o3"}, true},
			{first, throttle.Call{Key: key, Model: "gpt-5"}, false},
			{first, throttle.Call{Key: key, Model: "unmatched"}, true},
			{first, throttle.Call{Key: throttle.FingerprintOf("other"), Model: "gpt-4o"}, true},
			{first, throttle.Call{Key: "k1", Account: "acme", Model: "gpt-4o"}, true},
			{second, throttle.Call{Key: "k2", Account: "acme", Model: "gpt-4o"}, true},
			{second, throttle.Call{Key: "k3", Account: "acme", Model: "gpt-4o"}, false},
		} {
			if err := try(tt.th, tt.call); (err == nil) != tt.goes {
				t.Errorf("call %d: %v", i, err)
			}
		}
	})
}

func TestBackgroundHasSixtyPercentOfEverybodysUse(t *testing.T) {
	for _, algorithm := range everyAlgorithm {
		t.Run(algorithm.String(), func(t *testing.T) {
			eachStore(t, func(t *testing.T, fl fleet) {
				th := newThrottle(t, throttle.Config{
					Store: fl.open(t), Budgets: budget(throttle.Requests(10, 24*time.Hour).Using(algorithm)),
				})
				ctx := context.Background()
				for range 3 {
					goes(t, th, background(ctx), call()).Done()
				}
				for range 2 {
					goes(t, th, ctx, call()).Done()
				}
				goes(t, th, background(ctx), call()).Done()
				denied(t, th, background(ctx), call(), throttle.ErrBudget)
				for range 4 {
					goes(t, th, ctx, call()).Done()
				}
				denied(t, th, ctx, call(), throttle.ErrBudget)
			})
		})
	}
}

func TestACostAboveItsLanesCeilingIsTooLargeAndNamesLaneAndLimit(t *testing.T) { // B129
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{Store: fl.open(t), Budgets: budget(throttle.Tokens(30_000, time.Minute))})
		for _, tt := range []struct {
			lane   lanes.Lane
			tokens int64
			goes   bool
		}{
			{lanes.Live, 36_000, false},
			{lanes.Background, 20_000, false},
			{lanes.Background, 18_000, true},
		} {
			c := tokens(tt.tokens)
			c.Lane = tt.lane
			if tt.goes {
				goes(t, th, context.Background(), c).Cancel()
				continue
			}
			e := denied(t, th, context.Background(), c, throttle.ErrTooLarge)
			if e.Lane != tt.lane.Name || e.Limit != "30000 tokens per 1m0s" || e.RetryAfter != 0 {
				t.Errorf("%d tokens in %s: %+v", tt.tokens, tt.lane.Name, e)
			}
		}
	})
}

func TestSettlementCorrectsTheChargeOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		for _, tt := range []struct {
			name string
			end  func(p throttle.Permit)
			used int64 // of 100, after a call estimated at 60 in and 20 out
		}{
			{"done keeps the estimate", throttle.Permit.Done, 80},
			{"cancel gives everything back", throttle.Permit.Cancel, 0},
			{"settle gives back", func(p throttle.Permit) { p.Settle(throttle.Cost{InputTokens: 7, OutputTokens: 3}) }, 10},
			{"settle adds an excess", func(p throttle.Permit) { p.Settle(throttle.Cost{InputTokens: 70, OutputTokens: 25}) }, 95},
			{"a negative field is unknown", func(p throttle.Permit) { p.Settle(throttle.Cost{InputTokens: 5, OutputTokens: -1}) }, 25},
			{"the first end counts", func(p throttle.Permit) {
				p.Settle(throttle.Cost{InputTokens: 1})
				p.Settle(throttle.Cost{InputTokens: 50})
				p.Cancel()
				p.Done()
			}, 1},
		} {
			t.Run(tt.name, func(t *testing.T) {
				th := newThrottle(t, throttle.Config{
					Store: fl.open(t), Lanes: patient(),
					Budgets: []throttle.Budget{{Name: tt.name, Models: []string{model}, Limits: []throttle.Limit{throttle.Tokens(100, 24*time.Hour)}}},
				})
				c := call()
				c.Cost = throttle.Cost{InputTokens: 60, OutputTokens: 20}
				tt.end(goes(t, th, context.Background(), c))
				if used := usedOf(t, th, 100); used != tt.used {
					t.Errorf("%d tokens are used, want %d", used, tt.used)
				}
			})
		}
	})
}

// usedOf finds out how much of a token limit is used, by what still fits.
func usedOf(t *testing.T, th *throttle.Throttle, amount int64) int64 {
	t.Helper()
	low, high := int64(0), amount // low fits
	for low < high {
		mid := (low + high + 1) / 2
		p, err := tryNow(t, th, tokens(mid))
		if err == nil {
			p.Cancel()
			low = mid
		} else {
			high = mid - 1
		}
	}
	return amount - low
}

func TestACallDeniedWithoutWaitingChangesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{
			Store: fl.open(t), Lanes: patient(),
			Budgets: budget(throttle.Requests(10, 24*time.Hour), throttle.Tokens(100, 24*time.Hour).Using(throttle.TokenBucket)),
		})
		goes(t, th, context.Background(), tokens(60)).Done()
		for range 100 {
			if p, err := tryNow(t, th, tokens(50)); err == nil {
				p.Done()
				t.Fatal("a call over the budget went")
			}
		}
		goes(t, th, context.Background(), tokens(40)).Done()
		for range 8 {
			goes(t, th, context.Background(), call()).Done()
		}
		denied(t, th, background(context.Background()), call(), throttle.ErrBudget)
	})
}

func TestCheckSaysWhatAcquireWouldAndSpendsNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{Store: fl.open(t), Budgets: budget(throttle.Requests(1, 24*time.Hour))})
		for range 5 {
			if err := th.Check(context.Background(), call()); err != nil {
				t.Fatalf("with room: %v", err)
			}
		}
		goes(t, th, context.Background(), call()).Done()
		deniedBy(t, throttle.Permit{}, th.Check(context.Background(), call()), throttle.ErrBudget)
	})
}

func TestFitClampsAGuessToTheLanesCeilingAndNotWhatIsStated(t *testing.T) {
	th := newThrottle(t, throttle.Config{Budgets: budget(throttle.Tokens(500, time.Minute))})
	c := call()
	c.Cost = throttle.Cost{OutputTokens: 100}
	fitted := th.Fit(context.Background(), c, throttle.Cost{InputTokens: 300, OutputTokens: 1024})
	if fitted.InputTokens+fitted.OutputTokens != 500 || fitted.OutputTokens < 100 {
		t.Errorf("live: %+v, want 500 in all and at least 100 out", fitted)
	}
	fitted = th.Fit(background(context.Background()), c, throttle.Cost{InputTokens: 300, OutputTokens: 1024})
	if fitted.InputTokens+fitted.OutputTokens != 300 {
		t.Errorf("background: %+v, want 300 in all", fitted)
	}
	c.Cost.OutputTokens = 700
	if fitted = th.Fit(context.Background(), c, throttle.Cost{InputTokens: 50}); fitted.OutputTokens != 700 {
		t.Errorf("stated: %+v, want 700 out to be refused as too large", fitted)
	}
	denied(t, th, context.Background(), throttle.Call{Key: key, Model: model, Cost: fitted}, throttle.ErrTooLarge)
}
