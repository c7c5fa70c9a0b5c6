package throttle

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A hearingStore says whether its notices come through.
type hearingStore struct {
	*fatedStore
	deaf atomic.Bool
}

func (s *hearingStore) hears() bool { return !s.deaf.Load() }

func TestNoLeaseIsSpentOrClaimedWhileNothingIsHeard(t *testing.T) { // rule 7
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: longLease, Budgets: testBudget(Requests(1000, time.Hour))})
		store := &hearingStore{fatedStore: l.store}
		l.Throttle = testThrottle(t, Config{Store: store, Lanes: noWait, Lease: longLease, Budgets: testBudget(Requests(1000, time.Hour))})
		l.mustGo(t, "live", 0)
		store.deaf.Store(true)
		for range 3 {
			before := l.store.claims.Load()
			l.mustGo(t, "live", 0)
			if l.store.claims.Load() == before {
				t.Error("a lease is spent while nothing is heard")
			}
			if n := l.leasedNow(0); n > 0 {
				t.Errorf("%v calls are leased while nothing is heard", n)
			}
		}
	})
}

func TestALeaseThatComesAfterATimeWithoutNoticesGoesBack(t *testing.T) { // rule 7
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: longLease, Budgets: testBudget(Requests(1000, time.Hour))})
		l.store.answer = make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			l.mustGo(t, "live", 0)
		}()
		synctest.Wait()
		l.heard(notice{kind: noticeDeaf})
		l.heard(notice{kind: noticeHears})
		close(l.store.answer)
		<-done
		if n := l.leasedNow(0); n > 0 {
			t.Errorf("%v calls are leased by a claim from before", n)
		}
		time.Sleep(time.Second)
		if got := l.charged(); got != 1 {
			t.Errorf("%v are charged for one call", got)
		}
	})
}
