package histories

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
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
	aside *faultproxy.Proxy // of every second connection
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
			return process{Throttle: newThrottle(t, c), harms: &harmed{}}
		}})
	})
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t)
		f(t, fleet{redis: true, open: func(t *testing.T, c throttle.Config, timeout time.Duration) process {
			proxy, aside := faultproxy.New(t, server.Addr), faultproxy.New(t, server.Addr)
			var dialled atomic.Int64
			client := redis.NewClient(&redis.Options{Addr: proxy.Addr, Dialer: func(ctx context.Context, network, addr string) (net.Conn, error) {
				if dialled.Add(1)%2 == 0 {
					addr = aside.Addr
				}
				return new(net.Dialer).DialContext(ctx, network, addr)
			}})
			store, err := throttle.NewRedisStore(client, throttle.RedisOptions{Timeout: timeout})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = store.Close(), client.Close() })
			c.Store = store
			return process{newThrottle(t, c), proxy, aside, &harmed{}}
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
func harm(fleet []process, seed uint64, harms ...func(process) *faultproxy.Fault) (stop func()) {
	if fleet[0].proxy == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		r := rand.New(rand.NewPCG(seed, 7))
		for ctx.Err() == nil {
			p := fleet[r.IntN(len(fleet))]
			p.harms.add(harms[r.IntN(len(harms))](p))
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(5+r.IntN(40)) * time.Millisecond):
			}
			p.proxy.Pass()
			p.aside.Pass()
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// claims is in every claim's command: the hash of a script.
const claims = "evalsha"

func cutReplies(p process) *faultproxy.Fault  { return p.proxy.CutReplies(2, claims) }
func loseReplies(p process) *faultproxy.Fault { return p.proxy.LoseReplies(1, claims) }
func cutRequests(p process) *faultproxy.Fault { return p.proxy.CutRequests(2, claims) }

func cutAll(p process) *faultproxy.Fault {
	p.proxy.CutAll()
	p.aside.CutAll()
	return nil
}

// strays returns a harm that holds back what is said over every second
// connection for so long, while the others go on.
func strays(d time.Duration) func(process) *faultproxy.Fault {
	return func(p process) *faultproxy.Fault {
		p.aside.Delay(faultproxy.ToTarget, time.Minute)
		time.Sleep(d)
		return nil
	}
}

// soon reports whether something became true in a time that is more than enough.
func soon(is func() bool) bool {
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
