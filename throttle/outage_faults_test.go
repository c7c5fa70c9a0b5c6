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
	"github.com/headgate-go/headgate/lanes"
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
			// On a busy machine a claim may be late, and is decided here.
			for deadline := time.Now().Add(10 * time.Second); ; {
				n, err := admitted(th, 1, noWait[0])
				if n == 1 {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("after the end: %v", err)
				}
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
			q, _ := th.queueFor(&Call{Key: "other", Model: "m"})
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

func TestCloseTakesNoLongerForManyQueuesOnAStoreThatHangs(t *testing.T) { // B153
	synctest.Test(t, func(t *testing.T) {
		const timeout = 50 * time.Millisecond
		var hangs atomic.Bool
		flaky := &flakyStore{NewMemoryStore(), func() fate {
			if hangs.Load() {
				time.Sleep(timeout)
				return lost
			}
			return arrives
		}}
		th := testThrottle(t, Config{Store: &remoteStore{countingStore{Store: flaky}}, Account: []Limit{Requests(10, time.Hour)}})
		for range 500 {
			c := Call{Key: Fingerprint(newProbeID()), Model: "m"}
			p, err := th.Acquire(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			p.Cancel()
		}
		hangs.Store(true)
		start := time.Now()
		_ = th.Close()
		if got := time.Since(start); got > 2*timeout {
			t.Errorf("Close took %v", got)
		}
		time.Sleep(time.Second) // senders that were under way
	})
}

// What a call spends while its lane is open is neither given back to a local
// store that never charged it, nor free.
func TestOpenCallsGiveALocalLaneNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &flakyStore{NewMemoryStore(), func() fate { return lost }}
		th := testThrottle(t, Config{
			Store: &remoteStore{countingStore{Store: store}}, Lanes: noWait, Budgets: testBudget(Requests(10, 24*time.Hour)),
			LaneOutage: map[string]Outage{"live": OutageOpen, "background": OutageLocal},
		})
		went := 0
		for range 100 {
			c := testCall
			c.Lane = noWait[0]
			p, err := th.Acquire(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			p.Cancel()
			n, _ := admitted(th, 1, noWait[1])
			went += n
		}
		if went != 6 {
			t.Errorf("%d background calls went, want 6", went)
		}
	})
}

func TestAPartOfNothingIsNothing(t *testing.T) {
	limits := compileLimits([]Limit{Requests(3, time.Hour).Using(TokenBucket).WithBurst(5)}, noWait, "")
	amounts, bursts := 0.0, 0.0
	for rank := range 4 {
		p := partsOf(limits, rank, 4)[0]
		if p.amount == 0 && p.burst > 0 {
			t.Errorf("process %d may burst to %v and has nothing to refill it", rank, p.burst)
		}
		amounts, bursts = amounts+p.amount, bursts+p.burst
	}
	if amounts != 3 || bursts > 5 {
		t.Errorf("the parts make %v, burst %v", amounts, bursts)
	}
}

func TestRoomGivenBackDuringAnOutageIsUsedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &flakyStore{NewMemoryStore(), func() fate { return lost }}
		th := testThrottle(t, Config{
			Store: &remoteStore{countingStore{Store: store}}, Lanes: []lanes.Lane{{Name: "live", Share: 1, Wait: -1}},
			Budgets: testBudget(Requests(1, time.Hour)),
		})
		p, err := th.Acquire(context.Background(), testCall)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		go func() {
			time.Sleep(time.Second)
			p.Cancel()
		}()
		if p, err := th.Acquire(context.Background(), testCall); err != nil {
			t.Error(err)
		} else {
			p.Done()
		}
		if got := time.Since(start); got != time.Second {
			t.Errorf("the second call went after %v", got)
		}
	})
}
