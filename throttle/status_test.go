package throttle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestStatusSaysWhoWaitsWhatIsPausedAndWhichKeysAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := testThrottle(t, Config{Budgets: testBudget(Requests(1, time.Second).Using(TokenBucket))})
		acquire := func(key string) Permit {
			p, err := th.Acquire(context.Background(), Call{Key: Fingerprint(key), Model: "m"})
			if err != nil {
				t.Error(err)
			}
			return p
		}
		p := acquire("a")
		p.Answered(Verdict{Class: KeyRefused, Scope: ScopeKey, Detail: "invalid_api_key"})
		p.Done()
		p = acquire("b")
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() { _, _ = th.Acquire(ctx, Call{Key: "b", Model: "m"}) }()
		synctest.Wait()
		p.Answered(Verdict{Class: Busy, Scope: ScopeKey, Wait: 3 * time.Second})
		p.Done()
		time.Sleep(time.Second)
		s, err := th.Status(context.Background())
		if err != nil || s.Waiting != 1 || s.Outage || len(s.Budgets) != 2 || len(s.Keys) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		if b := s.Budgets[1]; b.Account != "b" || b.Budget != "m" || b.Waiting != 1 || b.Paused != 2*time.Second || b.Verdict.Class != Busy {
			t.Errorf("budget: %+v", b)
		}
		if k := s.Keys[0]; k.Key != "a" || k.Verdict.Detail != "invalid_api_key" || k.NextProbe != 5*time.Minute-time.Second {
			t.Errorf("key: %+v", k)
		}
	})
}
