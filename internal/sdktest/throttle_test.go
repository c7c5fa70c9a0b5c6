package sdktest

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/throttle"
)

const (
	account   = "acme"
	maxTokens = 1_000_000
	day       = 24 * time.Hour
)

// newThrottle returns a throttle with one budget, for the SDK's model.
func newThrottle(t *testing.T, s sdk, limits ...throttle.Limit) *throttle.Throttle {
	t.Helper()
	th, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{{Models: []string{s.model}, Limits: limits}},
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { th.Close() })
	return th
}

// roomy is a budget that no test fills.
func roomy() []throttle.Limit {
	return []throttle.Limit{throttle.Requests(1000, day), throttle.Tokens(maxTokens, day)}
}

// used returns how many tokens stand charged.
func used(th *throttle.Throttle, s sdk) int64 {
	call := throttle.Call{Key: throttle.FingerprintOf("meter"), Account: account, Model: s.model}
	// Settlements travel with the next claim, so it makes one.
	if own, err := th.Acquire(context.Background(), call); err == nil {
		defer own.Cancel()
	}
	return maxTokens - int64(sort.Search(maxTokens, func(n int) bool {
		call.Cost = throttle.Cost{InputTokens: int64(n + 1)}
		return th.Check(context.Background(), call) != nil
	}))
}

// A gate is an http.Client's transport: headgate's, and what counts how often
// the SDK comes to it.
type gate struct {
	inner *headgate.Transport
	mu    sync.Mutex
	tries []time.Time
}

func newGate(th *throttle.Throttle, s sdk, base http.RoundTripper, opts ...headgate.Option) *gate {
	opts = append(opts, headgate.WithBase(base), headgate.WithAccount(func(*http.Request) string { return account }))
	return &gate{inner: headgate.NewTransport(th, s.dialect, opts...)}
}

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	g.mu.Lock()
	g.tries = append(g.tries, time.Now())
	g.mu.Unlock()
	return g.inner.RoundTrip(r)
}

// connect gives the SDK a client with the gate.
func (g *gate) connect(t *testing.T, s sdk, bare bool) calls {
	t.Helper()
	c, err := s.connect(&http.Client{Transport: g}, bare)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// noLeaks fails the test if goroutines that it started are left at its end. To
// be called first, so that it looks last.
func noLeaks(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; <-tick.C {
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<20)
				t.Fatalf("%d goroutines, had %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
			}
		}
	})
}
