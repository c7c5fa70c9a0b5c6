package throttle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestASettlementTravelsWithTheNextClaimOrAloneAfterTwentyMilliseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countingStore{Store: NewMemoryStore()}
		th := testThrottle(t, Config{Store: store, Budgets: testBudget(Tokens(100, time.Hour))})
		c := testCall
		c.Cost.InputTokens = 60
		acquire := func() Permit {
			p, err := th.Acquire(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		acquire().Settle(Cost{InputTokens: 10})
		p := acquire() // fits only if the settlement was applied before it
		if n := store.claims.Load(); n != 2 {
			t.Errorf("two calls and a settlement between them made %d claims, want 2", n)
		}
		p.Settle(Cost{InputTokens: 10})
		time.Sleep(settleWait - 1)
		synctest.Wait()
		if n := store.claims.Load(); n != 2 {
			t.Errorf("the settlement was written before its time: %d claims", n)
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if n := store.claims.Load(); n != 3 {
			t.Errorf("%d claims after %v, want 3", n, settleWait)
		}
		acquire().Done() // nothing to correct
		time.Sleep(time.Second)
		synctest.Wait()
		if n := store.claims.Load(); n != 4 {
			t.Errorf("%d claims, want 4: an estimate that is kept costs nothing more", n)
		}
	})
}

func TestCloseWritesTheLastSettlements(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemoryStore()
		cfg := Config{Store: store, Budgets: testBudget(Requests(1, time.Hour))}
		th := testThrottle(t, cfg)
		p, err := th.Acquire(context.Background(), testCall)
		if err != nil {
			t.Fatal(err)
		}
		p.Cancel()
		_ = th.Close()
		if p, err = testThrottle(t, cfg).Acquire(context.Background(), testCall); err != nil {
			t.Errorf("the unit that was given back before Close: %v", err)
		}
		p.Done()
	})
}

func TestAPermitThatEndsAfterCloseStillSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewMemoryStore()
		cfg := Config{Store: store, Budgets: testBudget(Requests(1, time.Hour))}
		th := testThrottle(t, cfg)
		p, err := th.Acquire(context.Background(), testCall)
		if err != nil {
			t.Fatal(err)
		}
		_ = th.Close()
		p.Cancel()
		time.Sleep(time.Second)
		synctest.Wait()
		if p, err = testThrottle(t, cfg).Acquire(context.Background(), testCall); err != nil {
			t.Errorf("the unit that was given back after Close: %v", err)
		}
		p.Done()
	})
}
