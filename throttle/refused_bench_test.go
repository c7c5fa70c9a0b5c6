package throttle

import (
	"context"
	"testing"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

// BenchmarkRefused is a call that can't go: its model is paused, its key is
// refused, its budget is empty. None makes a round trip; a store in memory is asked
// about an empty budget, which needs none.
func BenchmarkRefused(b *testing.B) {
	for _, bb := range []struct {
		name string
		prep func(p Permit)
	}{
		{"paused", func(p Permit) { p.Answered(Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Minute}) }},
		{"key", func(p Permit) { p.Answered(Verdict{Class: KeyRefused, Scope: ScopeKey}) }},
		{"empty", func(Permit) {}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			store := &countingStore{Store: NewMemoryStore()}
			th := testThrottle(b, Config{
				Store:   store,
				Budgets: testBudget(Requests(1, time.Hour), Tokens(MaxAmount, time.Hour)), Account: []Limit{Requests(MaxAmount, time.Hour)},
				Lanes: []lanes.Lane{{Name: "now", Share: 1}},
			})
			p, err := th.Acquire(context.Background(), testCall)
			if err != nil {
				b.Fatal(err)
			}
			bb.prep(p)
			p.Done()
			before := store.claims.Load()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := th.Acquire(context.Background(), testCall); err == nil {
					b.Fatal("it went")
				}
			}
			b.ReportMetric(float64(store.claims.Load()-before)/float64(b.N), "claims/op")
		})
	}
}
