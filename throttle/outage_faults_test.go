package throttle

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/internal/faultproxy"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/redis/go-redis/v9"
)

// A claim that comes late because the way is long decides itself here, and
// shows nothing about the others.
func TestADistantRedisIsNoOutage(t *testing.T) {
	server := redistest.Start(t)
	proxy := faultproxy.New(t, server.Addr)
	client := redis.NewClient(&redis.Options{Addr: proxy.Addr})
	t.Cleanup(func() { _ = client.Close() })
	const timeout = 400 * time.Millisecond
	store, err := NewRedisStore(client, RedisOptions{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	var outages atomic.Int64
	th := testThrottle(t, Config{Store: store, Lanes: noWait, Outage: OutageOpen, Budgets: testBudget(Requests(1000, time.Hour)), Observe: func(e Event) {
		if e.Kind == EventOutageStart {
			outages.Add(1)
		}
	}})
	proxy.Delay(faultproxy.ToClient, timeout*6/10) // a caller that waits for another claim first has too little left
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { admitted(th, 4, noWait[0]) })
	}
	wg.Wait()
	if n := outages.Load(); n > 0 {
		t.Errorf("%d outages of a Redis that answers", n)
	}
}

// What reads alone would find again still takes no writes.
func TestAnOutageLastsUntilWritesWork(t *testing.T) { // B102
	for name, fault := range map[string]struct{ broken, repaired func(*redis.Client) error }{
		"out of memory": {
			func(c *redis.Client) error {
				return c.ConfigSet(context.Background(), "maxmemory", "1").Err()
			},
			func(c *redis.Client) error {
				return c.ConfigSet(context.Background(), "maxmemory", "0").Err()
			},
		},
		"demoted": {
			func(c *redis.Client) error {
				return c.ReplicaOf(context.Background(), "127.0.0.1", "1").Err()
			},
			func(c *redis.Client) error { return c.ReplicaOf(context.Background(), "no", "one").Err() },
		},
	} {
		t.Run(name, func(t *testing.T) {
			th, s, started, ended := outageThrottle(t, Config{Lanes: noWait, Outage: OutageClosed, Budgets: testBudget(Requests(1000, time.Hour))})
			admin := s.Client(t)
			if err := fault.broken(admin); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); {
				if n, _ := admitted(th, 1, noWait[0]); n > 0 {
					t.Fatal("a call went that nobody could count")
				}
			}
			if len(started) != 1 || len(ended) != 0 {
				t.Errorf("%d starts and %d ends while nothing could be written", len(started), len(ended))
			}
			if err := fault.repaired(admin); err != nil {
				t.Fatal(err)
			}
			<-ended
			if n, err := admitted(th, 1, noWait[0]); n != 1 {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

func TestARecordThatCannotBeReadHurtsNobodyElse(t *testing.T) {
	th, s, started, _ := outageThrottle(t, Config{Lanes: noWait, Outage: OutageClosed, Budgets: testBudget(Requests(10, time.Hour))})
	admin := s.Client(t)
	for _, value := range []string{"garbage", "\x90", "\x91\x01", "\xc1", ""} {
		if err := admin.Set(context.Background(), "headgate:{k}:b:m", value, time.Minute).Err(); err != nil {
			t.Fatal(err)
		}
		if n, err := admitted(th, 1, noWait[0]); n != 1 {
			t.Errorf("over %q: %v", value, err)
		}
	}
	if err := admin.Del(context.Background(), "headgate:{k}:b:m").Err(); err != nil {
		t.Fatal(err)
	}
	if err := admin.RPush(context.Background(), "headgate:{k}:b:m", "a list").Err(); err != nil {
		t.Fatal(err)
	}
	admitted(th, 1, noWait[0])
	if p, err := th.Acquire(context.Background(), Call{Key: "other", Model: "m"}); err != nil {
		t.Errorf("another account: %v", err)
	} else {
		p.Done()
	}
	if len(started) > 0 {
		t.Errorf("an outage: %v", (<-started).Err)
	}
}

func TestARefusalIsNotPushedOutByManyPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryStore()
		var away atomic.Bool
		store := &flakyStore{memory, func() fate {
			if away.Load() {
				return lost
			}
			return arrives
		}}
		th := testThrottle(t, Config{Store: store, Outage: OutageOpen})
		p, err := th.Acquire(context.Background(), testCall)
		if err != nil {
			t.Fatal(err)
		}
		away.Store(true)
		p.Answered(Verdict{Class: KeyRefused})
		p.Done()
		for range maxKept + 1 {
			q, _ := th.queueFor(Call{Key: "other", Model: "m"})
			q.answered(permitInfo{q: q, key: "other"}, Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Minute})
		}
		away.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		second := testThrottle(t, Config{Store: memory})
		if _, err := second.Acquire(context.Background(), testCall); !errors.Is(err, ErrKeyRefused) {
			t.Errorf("another process after the outage: %v", err)
		}
	})
}

func TestAPauseIsRampedDuringAnOutageToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &remoteStore{countingStore{Store: NewMemoryStore()}}
		var away atomic.Bool
		flaky := &flakyStore{store, func() fate {
			if away.Load() {
				return lost
			}
			return arrives
		}}
		th := testThrottle(t, Config{Store: flaky, Budgets: testBudget(Requests(100, time.Second))})
		p, err := th.Acquire(context.Background(), testCall)
		if err != nil {
			t.Fatal(err)
		}
		away.Store(true)
		p.Answered(Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Second})
		p.Done()
		start := time.Now()
		var wg sync.WaitGroup
		var early atomic.Int64
		for range 40 {
			wg.Go(func() {
				p, err := th.Acquire(context.Background(), testCall)
				if err != nil {
					t.Error(err)
				}
				p.Done()
				// K = 100: the tenth leaves sqrt(20/100) s after the end.
				if time.Since(start) < 1400*time.Millisecond {
					early.Add(1)
				}
			})
		}
		wg.Wait()
		if n := early.Load(); n > 10 {
			t.Errorf("%d calls went within 400 ms of the pause's end", n)
		}
	})
}

func TestAnAnswerAboutNothingDeniesNoModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := testThrottle(t, Config{})
		for range 2 {
			p, err := th.Acquire(context.Background(), Call{Key: "k"})
			if err != nil {
				t.Fatal(err)
			}
			p.Answered(Verdict{Class: ModelDenied, Scope: ScopeModel})
			p.Done()
		}
	})
}

func TestACallUnderWayAtCloseIsTurnedAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		store := &remoteStore{countingStore{Store: NewMemoryStore()}}
		store.before = func() { <-hold }
		th := testThrottle(t, Config{Store: store, Budgets: testBudget(Requests(1, time.Second).Using(TokenBucket))})
		errs := make(chan error, 2)
		for range cap(errs) { // one would go, the other would wait
			go func() {
				_, err := th.Acquire(context.Background(), testCall)
				errs <- err
			}()
		}
		synctest.Wait()
		_ = th.Close()
		close(hold)
		for range cap(errs) {
			if err := <-errs; !errors.Is(err, ErrClosed) {
				t.Errorf("got %v", err)
			}
		}
	})
}
