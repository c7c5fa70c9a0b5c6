package throttle_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

func TestTheCountIsRaisedToWhatTheVendorSaysAndNeverLowered(t *testing.T) {
	for _, algorithm := range everyAlgorithm {
		t.Run(algorithm.String(), func(t *testing.T) {
			eachStore(t, func(t *testing.T, fl fleet) {
				c := throttle.Config{Lanes: patient(), Budgets: budget(throttle.Requests(100, 24*time.Hour).Using(algorithm), throttle.Tokens(1_000_000, 24*time.Hour))}
				c.Store = fl.open(t)
				one := newThrottle(t, c)
				c.Store = fl.open(t)
				other := newThrottle(t, c)
				report := func(remaining int64) {
					p := goes(t, one, context.Background(), call())
					p.Reported(throttle.Report{Unit: throttle.UnitRequests, Limit: 100, Remaining: remaining})
					p.Done()
				}
				report(95) // somebody else has spent four
				report(99) // an old answer, or one of another window
				report(40)
				p := goes(t, one, context.Background(), call()) // carries the last report
				p.Done()
				// 39 are left by it, of which this call took one.
				if n := admittedNow(t, other, 100); n != 39 {
					t.Errorf("%d calls went, want 39", n)
				}
			})
		})
	}
}

func TestRoundedAndUnsaidFiguresRaiseNothingThatIsNotSure(t *testing.T) {
	th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: budget(throttle.InputTokens(10_000, 24*time.Hour), throttle.Tokens(50_000, time.Hour), throttle.Tokens(500_000, 24*time.Hour))})
	p := goes(t, th, context.Background(), tokens(100))
	p.Reported(
		throttle.Report{Unit: throttle.UnitInputTokens, Limit: 10_000, Remaining: 9000, Coarse: 1000},
		throttle.Report{Unit: throttle.UnitInputTokens, Limit: throttle.Unsaid, Remaining: throttle.Unsaid},
		throttle.Report{Unit: throttle.UnitTokens, Remaining: 0},                   // of which of the two?
		throttle.Report{Unit: throttle.UnitTokens, Per: time.Minute, Remaining: 0}, // of neither
		throttle.Report{Unit: throttle.UnitOutputTokens, Remaining: 0},
	)
	p.Done()
	goes(t, th, context.Background(), tokens(9900)).Done()
	if _, err := tryNow(t, th, tokens(1)); !errors.Is(err, throttle.ErrBudget) {
		t.Errorf("one more than there are: %v", err)
	}
}

func TestALimitThatDiffersIsToldOnce(t *testing.T) {
	var told atomic.Int64
	th := newThrottle(t, throttle.Config{
		Lanes: patient(), Budgets: budget(throttle.Requests(100, time.Minute)),
		Observe: func(e throttle.Event) {
			if e.Kind == throttle.EventLimit {
				told.Add(1)
				if e.Reported != 60 || e.Limit != "100 requests per 1m0s" {
					t.Errorf("%+v", e)
				}
			}
		},
	})
	for range 5 {
		p := goes(t, th, context.Background(), call())
		p.Reported(throttle.Report{Unit: throttle.UnitRequests, Per: time.Minute, Limit: 60, Remaining: throttle.Unsaid})
		p.Done()
	}
	if told.Load() != 1 {
		t.Errorf("it was told %d times", told.Load())
	}
	s, err := th.Status(context.Background())
	if err != nil || s.Budgets[0].Limits[0].Reported != 60 {
		t.Errorf("%+v, %v", s.Budgets[0].Limits, err)
	}
}

func TestGuessesComeNearWhatCallsReallyCostWithinAHundred(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: budget(throttle.Tokens(5_000_000, time.Hour))})
		c := throttle.Call{Key: key, Model: model}
		guess := throttle.Cost{OutputTokens: 1000}
		low := 0
		for i := range 200 {
			actual := throttle.Cost{InputTokens: 50, OutputTokens: int64(80 + i*37%40)} // 80 to 119
			c.Cost = throttle.Cost{InputTokens: 50}
			stated := c.Cost
			c.Cost = th.Fit(context.Background(), c, guess)
			p := goes(t, th, context.Background(), c)
			p.Learn(stated, guess, actual)
			p.Settle(actual)
			if i >= 100 {
				if c.Cost.OutputTokens > 2*119 {
					t.Fatalf("call %d: the estimate is still %d", i, c.Cost.OutputTokens)
				}
				if c.Cost.OutputTokens < actual.OutputTokens {
					low++
				}
			}
		}
		if low > 20 {
			t.Errorf("%d of 100 estimates were too low", low)
		}
		// A budget that became small stays usable.
		if err := th.SetBudgets(budget(throttle.Tokens(60, time.Hour))); err != nil {
			t.Fatal(err)
		}
		c.Cost = th.Fit(context.Background(), throttle.Call{Key: key, Model: model}, throttle.Cost{OutputTokens: 100_000})
		if c.Cost.OutputTokens > 60 {
			t.Errorf("an estimate of %d for 60", c.Cost.OutputTokens)
		}
		synctest.Wait()
	})
}

// What a vendor counted long ago says little of now.
func TestAnOldReportDeniesNobody(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: budget(throttle.Requests(60, time.Minute)), Account: []throttle.Limit{throttle.Requests(1000, time.Minute)}})
		p := goes(t, th, context.Background(), call())
		p.Reported(throttle.Report{Unit: throttle.UnitRequests, Scope: throttle.ScopeModel, Per: time.Minute, Limit: 60, Remaining: 0})
		p.Done()
		// Another model of the account isn't meant.
		goes(t, th, context.Background(), throttle.Call{Key: key, Model: "another"}).Done()
		time.Sleep(10 * time.Minute)
		if n := admittedNow(t, th, 100); n != 60 {
			t.Errorf("%d calls of 60 went", n)
		}
	})
}
