package throttle

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"
)

func TestPriceOfACost(t *testing.T) {
	p := Price{Input: 2.5, Cached: 1.25, Output: 10, PerCall: 0.001}
	for _, tt := range []struct {
		price Price
		cost  Cost
		want  int64
	}{
		{p, Cost{}, 0},
		{p, Cost{Requests: 1}, 1000},
		{p, Cost{InputTokens: 1000}, 2500},
		{p, Cost{InputTokens: 1000, CachedTokens: 400}, 1500 + 500},
		{p, Cost{InputTokens: 1000, CachedTokens: 5000}, 1250},
		{p, Cost{Requests: 1, InputTokens: 3, OutputTokens: 1}, 1018}, // 7.5 rounded up
		{Price{Input: 2}, Cost{InputTokens: 10, CachedTokens: 10}, 20},
		{p, Cost{OutputTokens: math.MaxInt64}, costCap},
	} {
		if got := tt.price.of(tt.cost); got != tt.want {
			t.Errorf("%+v of %+v is %d, want %d", tt.price, tt.cost, got, tt.want)
		}
	}
	for _, p := range []Price{{Input: -1}, {Cached: math.NaN()}, {Output: math.Inf(1)}, {PerCall: 2e6}} {
		if p.validate() == nil {
			t.Errorf("%+v is no error", p)
		}
	}
}

func TestADollarLimitIsChargedByEstimateAndSettledByUsage(t *testing.T) {
	th := testThrottle(t, Config{Lanes: noWait, Budgets: []Budget{{
		Models: []string{"m"}, Limits: []Limit{Dollars(1, 24*time.Hour)},
		Price: Price{Input: 10, Output: 100, PerCall: 0.1},
	}}})
	spend := func(c Cost) (Permit, error) {
		return th.Acquire(context.Background(), Call{Key: "k", Model: "m", Cost: c})
	}
	p, err := spend(Cost{InputTokens: 40_000, OutputTokens: 5_000}) // 0.1 + 0.4 + 0.5
	if err != nil {
		t.Fatal(err)
	}
	if _, err := spend(Cost{}); !errors.Is(err, ErrBudget) {
		t.Fatalf("the dollar is spent, and a call got %v", err)
	}
	p.Settle(Cost{InputTokens: 10_000, OutputTokens: -1, MicroUSD: -1}) // 0.1 + 0.1 + 0.5
	if _, err = spend(Cost{InputTokens: 20_001}); err == nil {
		t.Fatal("more than thirty cents went")
	}
	if p, err = spend(Cost{InputTokens: 20_000}); err != nil {
		t.Fatal(err)
	}
	p.Settle(Cost{}) // the vendor billed nothing
	if p, err = spend(Cost{MicroUSD: 300_000}); err != nil {
		t.Fatalf("as the caller states it: %v", err)
	}
	p.Done()
}

func TestAGuessIsShrunkToWhatADollarLimitAllows(t *testing.T) {
	th := testThrottle(t, Config{Budgets: []Budget{{
		Models: []string{"m"}, Limits: []Limit{Dollars(1, time.Hour)}, Price: Price{Input: 10, Output: 100},
	}}})
	c := Call{Key: "k", Model: "m", Cost: Cost{OutputTokens: 1000}}
	c.Cost = th.Fit(context.Background(), c, Cost{InputTokens: 1_000_000, OutputTokens: 1_000_000})
	if c.Cost.OutputTokens < 1000 {
		t.Errorf("%+v is less than was stated", c.Cost)
	}
	if p, err := th.Acquire(context.Background(), c); err != nil {
		t.Errorf("%+v: %v", c.Cost, err)
	} else {
		p.Done()
	}
}
