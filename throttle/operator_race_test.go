package throttle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// An answer that was on its way when the pause was ended doesn't begin it again.
func TestAClaimUnderWayDoesNotUndoAResumption(t *testing.T) {
	for _, scope := range []Scope{ScopeModel, ScopeKey} {
		synctest.Test(t, func(t *testing.T) {
			memory := NewMemoryStore()
			c := Config{Budgets: testBudget(Requests(1000, time.Hour))}
			late, other := newLeaser(t, memory, c), newLeaser(t, memory, c)
			p, _, err := late.try("live", 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Pause(context.Background(), testCall, scope, time.Hour); err != nil {
				t.Fatal(err)
			}
			late.store.answer = make(chan struct{})
			p.Cancel() // its settlement is a claim of its own
			time.Sleep(time.Second)
			if err := other.Resume(context.Background(), testCall, scope); err != nil {
				t.Fatal(err)
			}
			close(late.store.answer)
			time.Sleep(time.Minute)
			late.mustGo(t, "live", 0)
		})
	}
}

func TestAnOperatorsPauseEndsLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryStore()
		c := Config{Lease: longLease, Budgets: testBudget(Requests(1000, time.Hour))}
		one, two := newLeaser(t, memory, c), newLeaser(t, memory, c)
		one.mustGo(t, "live", 0)
		two.mustGo(t, "live", 0)
		if err := one.Pause(context.Background(), testCall, ScopeKey, time.Second); err != nil {
			t.Fatal(err)
		}
		for _, l := range []leaser{one, two} {
			if n := l.leasedNow(0); n > 0 {
				t.Errorf("%v calls are still leased", n)
			}
			l.mustBeDenied(t, ErrPaused)
		}
		time.Sleep(time.Minute)
		if got := one.charged(); got != 2 {
			t.Errorf("%v are charged for two calls", got)
		}
	})
}
