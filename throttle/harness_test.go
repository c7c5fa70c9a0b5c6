package throttle_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
	"github.com/redis/go-redis/v9"
)

// A fleet opens stores that share their state, one for each process.
type fleet struct {
	open              func(t testing.TB) throttle.Store
	keysWithoutExpiry func(t testing.TB) []string // nil: in memory
}

// eachStore runs a conformance test on a memory store, a real Redis, a cluster
// of three masters and a master that sentinels name.
func eachStore(t *testing.T, f func(t *testing.T, fl fleet)) {
	t.Run("memory", func(t *testing.T) {
		store := throttle.NewMemoryStore()
		f(t, fleet{open: func(testing.TB) throttle.Store { return store }})
	})
	t.Run("redis", func(t *testing.T) { f(t, redisFleet(t)) })
	t.Run("cluster", func(t *testing.T) { f(t, clusterFleet(t)) })
	t.Run("sentinel", func(t *testing.T) { f(t, sentinelFleet(t)) })
}

func clusterFleet(t testing.TB) fleet {
	t.Helper()
	cluster := redistest.SharedCluster(t)
	return fleetOf(func(t testing.TB) redis.UniversalClient { return cluster.Client(t) }, cluster.KeysWithoutExpiry)
}

func sentinelFleet(t testing.TB) fleet {
	t.Helper()
	sentinel := redistest.SharedSentinel(t)
	return fleetOf(sentinel.Client, sentinel.KeysWithoutExpiry)
}

func redisFleet(t testing.TB) fleet {
	t.Helper()
	server := redistest.Shared(t)
	return fleetOf(func(t testing.TB) redis.UniversalClient { return server.Client(t) }, server.KeysWithoutExpiry)
}

// fleetOf opens Redis stores of one prefix. Their timeout is generous: these
// tests are about decisions, and the machine may be slow.
func fleetOf(client func(testing.TB) redis.UniversalClient, keys func(testing.TB) []string) fleet {
	prefix := "test-" + uuid.NewString()[:8]
	return fleet{keysWithoutExpiry: keys, open: func(t testing.TB) throttle.Store {
		t.Helper()
		store, err := throttle.NewRedisStore(client(t), throttle.RedisOptions{Prefix: prefix, Timeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	}}
}

// inBubble runs a test on a memory store in a bubble, where time stands still
// until every goroutine waits: instants are exact, and a goroutine that is
// left behind fails the test.
func inBubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

// newThrottle returns a throttle that is closed when the test ends and says
// nothing unless the configuration has a logger.
func newThrottle(t testing.TB, c throttle.Config) *throttle.Throttle {
	t.Helper()
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	th, err := throttle.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = th.Close() })
	return th
}

const model = "gpt-4o"

var key = throttle.FingerprintOf("sk-test")

// budget is one of the model with the given limits.
func budget(limits ...throttle.Limit) []throttle.Budget {
	return []throttle.Budget{{Models: []string{model}, Limits: limits}}
}

func call() throttle.Call { return throttle.Call{Key: key, Model: model} }

// tokens is a call with an estimate of n input tokens.
func tokens(n int64) throttle.Call {
	return throttle.Call{Key: key, Model: model, Cost: throttle.Cost{InputTokens: n}}
}

func background(ctx context.Context) context.Context { return lanes.With(ctx, lanes.Background) }

// tryNow asks for a call without waiting.
func tryNow(t testing.TB, th *throttle.Throttle, c throttle.Call) (throttle.Permit, error) {
	t.Helper()
	c.Lane = lanes.Lane{Name: "now"}
	return th.Acquire(context.Background(), c)
}

// patient are lanes of which the first waits long and the second not at all.
func patient() []lanes.Lane {
	return []lanes.Lane{{Name: "live", Share: 1, Wait: time.Hour}, {Name: "now", Share: 1}, lanes.Background}
}

// goes is a call that must be admitted.
func goes(t testing.TB, th *throttle.Throttle, ctx context.Context, c throttle.Call) throttle.Permit {
	t.Helper()
	p, err := th.Acquire(ctx, c)
	if err != nil {
		t.Fatalf("Acquire: %v", err)
	}
	return p
}

// denied is a call that must be refused for the reason.
func denied(t testing.TB, th *throttle.Throttle, ctx context.Context, c throttle.Call, reason error) *throttle.DeniedError {
	t.Helper()
	p, err := th.Acquire(ctx, c)
	return deniedBy(t, p, err, reason)
}

func deniedBy(t testing.TB, p throttle.Permit, err, reason error) *throttle.DeniedError {
	t.Helper()
	var e *throttle.DeniedError
	if !errors.As(err, &e) || !errors.Is(err, reason) || !errors.Is(err, throttle.ErrDenied) {
		p.Cancel()
		t.Fatalf("Acquire: %v, want a denial for %v", err, reason)
	}
	if e.RetryAfter < 0 {
		t.Fatalf("RetryAfter is %v", e.RetryAfter)
	}
	return e
}

var everyAlgorithm = []throttle.Algorithm{
	throttle.SlidingWindow, throttle.FixedWindow, throttle.SlidingLog, throttle.TokenBucket, throttle.GCRA,
}

// arrivals notes when calls go, from any goroutine.
type arrivals struct {
	mu    sync.Mutex
	start time.Time
	at    []time.Duration
}

func newArrivals() *arrivals { return &arrivals{start: time.Now()} }

func (a *arrivals) note() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = append(a.at, time.Since(a.start))
}

func (a *arrivals) all() []time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]time.Duration(nil), a.at...)
}

// between counts the calls that went in [from, to).
func (a *arrivals) between(from, to time.Duration) int {
	n := 0
	for _, at := range a.all() {
		if at >= from && at < to {
			n++
		}
	}
	return n
}
