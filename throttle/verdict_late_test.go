package throttle

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A verdict whose own message is lost, in no outage, reaches the others all the
// same.
func TestAVerdictWhoseWriteIsLostIsWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryStore()
		var lose atomic.Int64
		cfg := Config{Budgets: testBudget(Requests(100, time.Minute)), Lanes: noWait}
		cfg.Store = &remoteStore{countingStore{Store: &lateStore{memory, &lose}}}
		told := testThrottle(t, cfg)
		cfg.Store = memory
		other := testThrottle(t, cfg)
		p, err := told.Acquire(context.Background(), testCall)
		if err != nil {
			t.Fatal(err)
		}
		if q, err := other.Acquire(context.Background(), testCall); err != nil {
			t.Fatal(err)
		} else {
			q.Done()
		}
		lose.Store(2)
		p.Answered(Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Minute})
		time.Sleep(3 * rewriteWait)
		if q, err := other.Acquire(context.Background(), testCall); err == nil {
			q.Done()
			t.Fatal("the other process was not told of the pause")
		}
	})
}

// A lateStore gives no answer to some claims, and one to others meanwhile.
type lateStore struct {
	Store
	lose *atomic.Int64
}

func (s *lateStore) claim(ctx context.Context, c *claim) (answer, error) {
	if s.lose.Add(-1) >= 0 {
		return answer{}, &lateError{err: errFlaky}
	}
	return s.Store.claim(ctx, c)
}
