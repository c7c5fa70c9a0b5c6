package histories

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/faultproxy"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
	"github.com/redis/go-redis/v9"
)

// A process is a throttle with a way of its own to the store.
type process struct {
	*throttle.Throttle
	proxy *faultproxy.Proxy // nil: the store is in memory
	harms *harmed
}

// harmed is what was done to a process's connection.
type harmed struct {
	mu     sync.Mutex
	faults []*faultproxy.Fault
}

// hits is how many commands and replies have come to harm.
func (h *harmed) hits() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, f := range h.faults {
		n += f.Hits()
	}
	return n
}

func (h *harmed) add(f *faultproxy.Fault) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f != nil {
		h.faults = append(h.faults, f)
	}
}

// A fleet opens processes that share a store.
type fleet struct {
	redis bool
	open  func(t *testing.T, c throttle.Config, timeout time.Duration) process
}

const model = "m"

// lanesOf are one that waits and one that doesn't.
var lanesOf = []lanes.Lane{{Name: "waits", Share: 1, Wait: time.Minute}, {Name: "now", Share: 1}}

func call(lane string) throttle.Call {
	return throttle.Call{Key: "k", Model: model, Lane: lanes.Lane{Name: lane}}
}

// eachStore runs a test on a store in memory, and on a Redis whose connections
// each process has through a proxy.
func eachStore(t *testing.T, f func(t *testing.T, fl fleet)) {
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		store := throttle.NewMemoryStore()
		f(t, fleet{open: func(t *testing.T, c throttle.Config, _ time.Duration) process {
			c.Store = store
			return process{newThrottle(t, c), nil, &harmed{}}
		}})
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t)
		f(t, fleet{redis: true, open: func(t *testing.T, c throttle.Config, timeout time.Duration) process {
			proxy := faultproxy.New(t, server.Addr)
			client := redis.NewClient(&redis.Options{Addr: proxy.Addr})
			store, err := throttle.NewRedisStore(client, throttle.RedisOptions{Timeout: timeout})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = store.Close(), client.Close() })
			c.Store = store
			return process{newThrottle(t, c), proxy, &harmed{}}
		}})
	})
}

func newThrottle(t *testing.T, c throttle.Config) *throttle.Throttle {
	t.Helper()
	c.Lanes, c.Logger = lanesOf, slog.New(slog.NewTextHandler(io.Discard, nil))
	th, err := throttle.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = th.Close() })
	return th
}

// harm does one harm after another to the processes' connections until the
// function that it returns is called, after which all passes.
func harm(fleet []process, seed uint64, harms ...func(*faultproxy.Proxy) *faultproxy.Fault) (stop func()) {
	if fleet[0].proxy == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		r := rand.New(rand.NewPCG(seed, 7))
		for ctx.Err() == nil {
			p := fleet[r.IntN(len(fleet))]
			p.harms.add(harms[r.IntN(len(harms))](p.proxy))
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(5+r.IntN(40)) * time.Millisecond):
			}
			p.proxy.Pass()
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// claims is in every claim's command: the hash of a script.
const claims = "evalsha"

func cutReplies(p *faultproxy.Proxy) *faultproxy.Fault  { return p.CutReplies(2, claims) }
func loseReplies(p *faultproxy.Proxy) *faultproxy.Fault { return p.LoseReplies(1, claims) }
func cutRequests(p *faultproxy.Proxy) *faultproxy.Fault { return p.CutRequests(2, claims) }
func cutAll(p *faultproxy.Proxy) *faultproxy.Fault      { p.CutAll(); return nil }

// soon reports whether something became true in a time that is more than enough.
func soon(is func() bool) bool {
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
