//go:build !race

// The race detector empties pools at random, so these counts are taken without
// it: make allocations.

package throttle

import (
	"context"
	"testing"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
)

func TestALeasedCallAllocatesNothing(t *testing.T) {
	th := testThrottle(t, Config{
		Budgets: testBudget(Requests(MaxAmount, time.Hour), Tokens(MaxAmount, time.Hour)),
		Account: []Limit{Requests(MaxAmount, time.Hour)}, Lease: leasing.Policy{Chunk: 1e6},
	})
	call := testCall
	call.Cost = Cost{InputTokens: 100, OutputTokens: 20}
	once := func() {
		p, err := th.Acquire(context.Background(), call)
		if err != nil {
			t.Fatal(err)
		}
		p.Settle(Cost{InputTokens: 100, OutputTokens: 10})
	}
	once()
	if n := testing.AllocsPerRun(2000, once); n >= 1 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestARefusedCallAllocatesItsErrorAlone(t *testing.T) {
	for name, prep := range map[string]func(Permit){
		"paused": func(p Permit) { p.Answered(Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Minute}) },
		"key":    func(p Permit) { p.Answered(Verdict{Class: KeyRefused, Scope: ScopeKey}) },
	} {
		th := testThrottle(t, Config{
			Budgets: testBudget(Requests(1, time.Hour), Tokens(MaxAmount, time.Hour)),
			Account: []Limit{Requests(MaxAmount, time.Hour)}, Lanes: []lanes.Lane{{Name: "now", Share: 1}},
		})
		p, err := th.Acquire(context.Background(), testCall)
		if err != nil {
			t.Fatal(err)
		}
		prep(p)
		p.Done()
		n := testing.AllocsPerRun(2000, func() {
			if _, err := th.Acquire(context.Background(), testCall); err == nil {
				t.Fatal("it went")
			}
		})
		if n >= 2 {
			t.Errorf("%s: %v allocations, want one", name, n)
		}
	}
}
