package throttle

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/faultproxy"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/leasing"
	"github.com/redis/go-redis/v9"
)

// awaitHearing returns once the store hears, or doesn't.
func awaitHearing(t *testing.T, s *RedisStore, want bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); s.hears() != want; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("hears() isn't %v", want)
		}
	}
}

// proxiedStore is a store whose way to Redis is a proxy.
func proxiedStore(t *testing.T) (*RedisStore, *redistest.Server, *faultproxy.Proxy) {
	t.Helper()
	server := redistest.Start(t)
	proxy := faultproxy.New(t, server.Addr)
	client := redis.NewClient(&redis.Options{Addr: proxy.Addr})
	t.Cleanup(func() { _ = client.Close() })
	store, err := NewRedisStore(client, RedisOptions{Timeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store, server, proxy
}

// cutSubscriptions kills them, and keeps new ones away until the returned
// function is called.
func cutSubscriptions(t *testing.T, server *redistest.Server) (restore func()) {
	t.Helper()
	admin := server.Client(t)
	do := func(args ...any) {
		t.Helper()
		if err := admin.Do(context.Background(), args...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	do("ACL", "SETUSER", "default", "-subscribe")
	do("CLIENT", "KILL", "TYPE", "pubsub")
	return func() { do("ACL", "SETUSER", "default", "+subscribe") }
}

// heardAgain fails the test unless a notice comes through.
func heardAgain(t *testing.T, store *RedisStore, server *redistest.Server) {
	t.Helper()
	heard := make(chan notice, 10)
	defer store.watch(func(n notice) { heard <- n })()
	other, err := NewRedisStore(server.Client(t), RedisOptions{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	c := claim{account: "a", budget: "b", keys: []Fingerprint{"k"}, models: []modelID{""}, verdict: &verdictNote{class: Busy, scope: ScopeModel, length: 1e6}}
	if _, err := other.claim(context.Background(), &c); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case n := <-heard:
			if n.kind == noticePause && n.account == "a" {
				return
			}
		case <-time.After(10 * time.Second):
			t.Fatal("no notice comes through")
		}
	}
}

func TestAKilledSubscriptionIsNoticedAndMadeAgain(t *testing.T) {
	store, server, _ := proxiedStore(t)
	for range 2 {
		if !store.hears() {
			t.Fatal("a store doesn't hear")
		}
		restore := cutSubscriptions(t, server)
		awaitHearing(t, store, false)
		restore()
		awaitHearing(t, store, true)
		heardAgain(t, store, server)
	}
}

func TestASilentSubscriptionIsNoticedAndMadeAgain(t *testing.T) {
	store, server, proxy := proxiedStore(t)
	proxy.BlackHole()
	start := time.Now()
	awaitHearing(t, store, false)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("a silent subscription was noticed after %v, want about 2 s", took)
	}
	proxy.Pass()
	awaitHearing(t, store, true)
	heardAgain(t, store, server)
}

func TestClosingAStoreIsPromptWhateverItsConnectionsDo(t *testing.T) {
	for name, harm := range map[string]func(*faultproxy.Proxy){
		"nothing":        func(*faultproxy.Proxy) {},
		"silence":        func(p *faultproxy.Proxy) { p.BlackHole() },
		"a cut":          func(p *faultproxy.Proxy) { p.RefuseNew(); p.CutAll() },
		"a cut, silence": func(p *faultproxy.Proxy) { p.BlackHole(); p.CutAll() },
	} {
		t.Run(name, func(t *testing.T) {
			store, _, proxy := proxiedStore(t)
			if harm(proxy); name != "nothing" {
				awaitHearing(t, store, false)
			}
			time.Sleep(150 * time.Millisecond) // it tries to subscribe again by now
			start := time.Now()
			_ = store.Close()
			if took := time.Since(start); took > time.Second {
				t.Errorf("Close took %v", took)
			}
		})
	}
}

// A pause that was missed must not be overrun by what was leased before it.
func TestADeadSubscriptionEndsLeases(t *testing.T) { // rule 7
	server := redistest.Start(t)
	store := redisStoreOn(t, server)
	counting := &countingStore{Store: store}
	th := testThrottle(t, Config{
		Store: counting, Lanes: noWait, Budgets: testBudget(Requests(1_000_000, 24*time.Hour)),
		Lease: leasing.Policy{Chunk: 1000, MaxAge: time.Hour},
	})
	q, _ := th.queueFor(&testCall)
	trips := func() int64 {
		before := counting.claims.Load()
		if n, err := admitted(th, 1, noWait[0]); n != 1 {
			t.Fatal(err)
		}
		return counting.claims.Load() - before
	}
	trips()
	if trips() != 0 || q.leased(0) == 0 {
		t.Fatal("nothing is leased")
	}
	restore := cutSubscriptions(t, server)
	awaitHearing(t, store, false)
	for range 3 {
		if trips() == 0 {
			t.Error("a lease is spent while nothing is heard")
		}
	}
	if n := q.leased(0); n > 0 {
		t.Errorf("%v calls are still leased", n)
	}
	restore()
	awaitHearing(t, store, true)
	if trips() == 0 {
		t.Error("a lease of the time before is spent")
	}
	if trips() != 0 {
		t.Error("nothing is leased any more")
	}
}
