package throttle_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// Numbers: large, small, and such as nobody meant.

func TestABigCallFitsAnIdleLimitAtOnce(t *testing.T) { // B131
	eachStore(t, func(t *testing.T, fl fleet) {
		for _, algorithm := range everyAlgorithm {
			th := newThrottle(t, throttle.Config{Store: fl.open(t), Budgets: []throttle.Budget{{
				Name: algorithm.String(), Models: []string{model},
				Limits: []throttle.Limit{throttle.Tokens(40_000, time.Minute).Using(algorithm)},
			}}})
			if p, err := th.Acquire(background(context.Background()), tokens(24_000)); err != nil {
				t.Errorf("%v: %v", algorithm, err)
			} else {
				p.Cancel()
			}
			if p, err := th.Acquire(context.Background(), tokens(30_000)); err != nil {
				t.Errorf("%v: %v", algorithm, err)
			} else {
				p.Done()
			}
		}
	})
}

func TestLargeRatesAreEnforcedToOnePercent(t *testing.T) { // B132
	for _, rpm := range []int64{6_000, 60_000, 1_000_000} {
		for _, algorithm := range everyAlgorithm {
			inBubble(t, func(t *testing.T) {
				th := newThrottle(t, throttle.Config{
					Budgets: budget(throttle.Requests(rpm, time.Minute).Using(algorithm)), Lanes: patient(),
				})
				// Drawn in hundreds, so that the test is quick; what is
				// counted is the time from empty to empty.
				hundred := call()
				hundred.Cost.Requests = rpm / 100
				for range 100 {
					goes(t, th, context.Background(), hundred).Done()
				}
				start, n := time.Now(), int64(0)
				for n < 2*rpm {
					goes(t, th, context.Background(), hundred).Done()
					n += rpm / 100
				}
				minutes := time.Since(start).Minutes()
				if algorithm == throttle.SlidingWindow {
					minutes -= 1 // of the first window, which was full from its start
				}
				if rate := float64(n) / minutes; math.Abs(rate/float64(rpm)-1) > 0.01 {
					t.Errorf("%v of %d a minute went at %.0f", algorithm, rpm, rate)
				}
			})
		}
	}
}

func TestTokenLimitsOfMillionsAreExactOnRedis(t *testing.T) { // B105, B135
	eachStore(t, func(t *testing.T, fl fleet) {
		for _, tpm := range []int64{2_000_000, 30_000_000, throttle.MaxAmount} {
			th := newThrottle(t, throttle.Config{Store: fl.open(t), Lanes: patient(), Budgets: []throttle.Budget{{
				Name: "of " + throttle.Tokens(tpm, time.Hour).String(), Models: []string{model},
				Limits: []throttle.Limit{throttle.Tokens(tpm, 24*time.Hour), throttle.InputTokens(tpm, 24*time.Hour)},
			}}})
			goes(t, th, context.Background(), tokens(tpm-123_457)).Done()
			if used := usedOf(t, th, tpm); used != tpm-123_457 {
				t.Errorf("of %d, %d are used, want %d", tpm, used, tpm-123_457)
			}
		}
		everyKeyExpires(t, fl)
	})
}

func TestHugeCostsAreTooLargeAndNegativeOnesInvalid(t *testing.T) { // B133
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{
			Store: fl.open(t), Lanes: patient(),
			Budgets: budget(throttle.Requests(10, 24*time.Hour), throttle.Tokens(1000, 24*time.Hour).Using(throttle.TokenBucket)),
			Account: []throttle.Limit{throttle.Tokens(throttle.MaxAmount, 24*time.Hour)},
		})
		for _, c := range []throttle.Cost{
			{InputTokens: math.MaxInt32}, {InputTokens: math.MaxInt64}, {InputTokens: math.MaxInt64, OutputTokens: math.MaxInt64},
			{Requests: math.MaxInt64}, {Requests: 11},
		} {
			denied(t, th, context.Background(), throttle.Call{Key: key, Model: model, Cost: c}, throttle.ErrTooLarge)
		}
		for _, c := range []throttle.Cost{
			{Requests: -1}, {InputTokens: -1}, {CachedTokens: math.MinInt64}, {OutputTokens: -5}, {Points: -1}, {MicroUSD: -1},
		} {
			if _, err := th.Acquire(context.Background(), throttle.Call{Key: key, Model: model, Cost: c}); !errors.Is(err, throttle.ErrInvalidCall) {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if used := usedOf(t, th, 1000); used != 0 {
			t.Errorf("%d tokens are used by calls that were refused", used)
		}
		// A settlement that is out of all bounds empties the limit and breaks nothing.
		p := goes(t, th, context.Background(), tokens(1))
		p.Settle(throttle.Cost{InputTokens: math.MaxInt64, OutputTokens: math.MaxInt64, Points: math.MaxInt64})
		if _, err := tryNow(t, th, tokens(1)); !errors.Is(err, throttle.ErrBudget) {
			t.Errorf("after an excess: %v", err)
		}
	})
}

func TestACostOfNothingIsOneRequest(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{
			Store: fl.open(t), Lanes: patient(), Budgets: budget(throttle.Requests(2, 24*time.Hour), throttle.Tokens(10, 24*time.Hour)),
		})
		goes(t, th, context.Background(), call()).Done()
		goes(t, th, context.Background(), tokens(0)).Done()
		if _, err := tryNow(t, th, call()); !errors.Is(err, throttle.ErrBudget) {
			t.Errorf("the third of two: %v", err)
		}
	})
}

func TestABackgroundLaneOfATinyLimitStillHasOne(t *testing.T) { // rule: never less than one
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{Store: fl.open(t), Budgets: budget(throttle.Requests(1, 24*time.Hour))})
		goes(t, th, background(context.Background()), call()).Done()
		denied(t, th, background(context.Background()), call(), throttle.ErrBudget)
	})
}

func TestAnUnknownLaneIsAnError(t *testing.T) {
	th := newThrottle(t, throttle.Config{})
	c := call()
	c.Lane.Name = "express"
	if _, err := th.Acquire(context.Background(), c); !errors.Is(err, throttle.ErrInvalidCall) {
		t.Errorf("got %v", err)
	}
}
