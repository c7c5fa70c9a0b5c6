package throttle

import (
	"context"
	"reflect"
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

func TestStatusSaysWhatIsUsedAndWhatEachLaneMayDraw(t *testing.T) {
	store := redisStore(t)
	th := testThrottle(t, Config{
		Store:   store,
		Budgets: testBudget(Requests(100, 24*time.Hour), Requests(50, 24*time.Hour).Using(TokenBucket).WithBurst(40)),
		Account: []Limit{Tokens(1000, 24*time.Hour)},
	})
	for range 10 {
		c := testCall
		c.Cost.InputTokens = 30
		p, err := th.Acquire(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		p.Done()
	}
	s, err := th.Status(context.Background())
	if err != nil || len(s.Budgets) != 1 || s.Live != 1 || s.Asked.IsZero() {
		t.Fatalf("%+v, %v", s, err)
	}
	want := []LimitStatus{
		{Limit: s.Budgets[0].Limits[0].Limit, Unit: UnitRequests, Per: 24 * time.Hour, Used: 10, Amount: 100, Lanes: []LaneStatus{{"live", 100, 90}, {"background", 60, 50}}},
		{Limit: s.Budgets[0].Limits[1].Limit, Unit: UnitRequests, Per: 24 * time.Hour, Used: 10, Amount: 40, Lanes: []LaneStatus{{"live", 40, 30}, {"background", 24, 14}}},
		{Limit: s.Budgets[0].Limits[2].Limit, Unit: UnitTokens, Per: 24 * time.Hour, Account: true, Used: 300, Amount: 1000, Lanes: []LaneStatus{{"live", 1000, 700}, {"background", 600, 300}}},
	}
	if !reflect.DeepEqual(s.Budgets[0].Limits, want) {
		t.Errorf("limits %+v, want %+v", s.Budgets[0].Limits, want)
	}
}

// However often it is asked, the store is looked at once a second.
func TestStatusLooksAtTheStoreOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countingStore{Store: NewMemoryStore()}
		th := testThrottle(t, Config{Store: store, Budgets: testBudget(Requests(5, time.Hour))})
		p, err := th.Acquire(context.Background(), testCall)
		if err != nil {
			t.Fatal(err)
		}
		p.Done()
		for range 50 {
			if _, err := th.Status(context.Background()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := store.looks.Load(); n != 5 {
			t.Errorf("%d looks in five seconds", n)
		}
	})
}
