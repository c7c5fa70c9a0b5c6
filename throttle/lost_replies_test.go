package throttle

import (
	"context"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/faultproxy"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/redis/go-redis/v9"
)

// proxied returns a throttle that reaches Redis through a proxy which can lose
// replies, and one that reaches it directly to see what was charged.
func proxied(t *testing.T, outage Outage, timeout time.Duration) (th, direct *Throttle, proxy *faultproxy.Proxy, started, ended chan Event) {
	t.Helper()
	server := redistest.Start(t)
	proxy = faultproxy.New(t, server.Addr)
	open := func(addr string, timeout time.Duration) *RedisStore {
		client := redis.NewClient(&redis.Options{Addr: addr}) // with the client's own retries
		t.Cleanup(func() { _ = client.Close() })
		store, err := NewRedisStore(client, RedisOptions{Timeout: timeout})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
	started, ended = make(chan Event, 100), make(chan Event, 100)
	cfg := Config{Lanes: noWait, Outage: outage, Budgets: testBudget(Requests(10, 24*time.Hour)), Store: open(proxy.Addr, timeout)}
	cfg.Observe = func(e Event) {
		switch e.Kind {
		case EventOutageStart:
			started <- e
		case EventOutageEnd:
			ended <- e
		}
	}
	th = testThrottle(t, cfg)
	cfg.Observe, cfg.Store = nil, open(server.Addr, 10*time.Second)
	return th, testThrottle(t, cfg), proxy, started, ended
}

// claimHash is in every claim's command and in nobody else's.
var claimHash = redis.NewScript(claimSource).Hash()

// left counts how many more calls go.
func left(t *testing.T, th *Throttle) int {
	t.Helper()
	n, err := admitted(th, 100, noWait[0])
	if err == nil {
		t.Fatal("no limit was reached")
	}
	return n
}

func TestACutReplyIsAskedForAgainAndChargesOnce(t *testing.T) { // B106
	th, direct, proxy, started, _ := proxied(t, OutageClosed, 10*time.Second)
	lost := proxy.CutReplies(3, claimHash)
	for range 4 {
		p, err := th.Acquire(context.Background(), testCall)
		if err != nil {
			t.Fatal(err)
		}
		p.Done()
	}
	if lost.Hits() != 3 {
		t.Fatalf("%d replies were cut", lost.Hits())
	}
	if len(started) > 0 {
		t.Errorf("an outage: %v", (<-started).Err)
	}
	if n := left(t, direct); n != 6 {
		t.Errorf("%d of ten are left after four calls", n)
	}
}

func TestALostReplyIsCorrectedByWhatWasReallySpent(t *testing.T) { // B106
	for _, tt := range []struct {
		outage Outage
		went   int
	}{{OutageClosed, 0}, {OutageOpen, 1}} {
		th, direct, proxy, started, ended := proxied(t, tt.outage, 200*time.Millisecond)
		lost := proxy.LoseReplies(1, claimHash)
		if n, _ := admitted(th, 1, noWait[0]); n != tt.went {
			t.Fatalf("%d calls went in an outage", n)
		}
		outage := true
		select {
		case <-started:
		case <-time.After(2 * time.Second): // a sign of life was answered meanwhile
			outage = false
		}
		if lost.Hits() != 1 {
			t.Fatalf("%d replies were lost", lost.Hits())
		}
		if outage {
			<-ended
		}
		// The next claim tells.
		if n, err := admitted(th, 1, noWait[0]); n != 1 {
			t.Fatal(err)
		}
		if n := left(t, direct); n != 9-tt.went {
			t.Errorf("%d of ten are left after %d calls", n, 1+tt.went)
		}
	}
}
