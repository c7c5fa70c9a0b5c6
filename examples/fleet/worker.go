package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/examples/internal/trips"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/probe"
	"github.com/headgate-go/headgate/throttle"
)

// A job is what a worker process gets.
type job struct {
	Plan    plan
	Vendor  string // URL
	Key     string
	Addr    string // of Redis
	Sentry  []string
	Prefix  string
	Limits  []throttle.Limit
	Process int
	First   int // number of its first call: a process that was started again goes on counting
	Start   time.Time
}

// slotLimit is on calls in flight, so that slots that are left behind show.
const slotLimit = 100_000

// config is the throttle's, the same in every process of a fleet.
func config(p plan, limits []throttle.Limit, store throttle.Store) throttle.Config {
	limits = slices.Clone(limits)
	if p.Slots {
		limits = append(limits, throttle.InFlight(slotLimit))
	}
	return throttle.Config{
		Store:   store,
		Budgets: []throttle.Budget{{Models: []string{model}, Limits: limits}},
		Probe:   probe.Policy{Every: p.ProbeEvery},
		Lease:   leasing.Policy{Chunk: p.Chunk},
		// Its lines would stand between the tables.
		Logger: slog.New(slog.DiscardHandler),
	}
}

// A worker is a service as headgate's users write it: one throttle, one
// http.Client around it, and calls.
type worker struct {
	job
	redis    *redis.Client
	store    *throttle.RedisStore
	throttle *throttle.Throttle
	client   *http.Client
	base     *http.Transport
	trips    trips.Counter
	before   int // goroutines
	book     book
	closing  sync.Once
}

func newWorker(j job) (*worker, error) {
	w := &worker{job: j, before: runtime.NumGoroutine()}
	w.redis = (&store{Addr: j.Addr, Sentinel: j.Sentry}).client()
	w.redis.AddHook(&w.trips)
	var err error
	if w.store, err = throttle.NewRedisStore(w.redis, throttle.RedisOptions{Prefix: j.Prefix, Timeout: j.Plan.Timeout}); err != nil {
		_ = w.redis.Close()
		return nil, fmt.Errorf("redis at %s%s: %w", j.Addr, j.Sentry, err)
	}
	c := config(j.Plan, j.Limits, w.store)
	c.Observe = w.observe
	if w.throttle, err = throttle.New(c); err != nil {
		w.close()
		return nil, err
	}
	w.base = http.DefaultTransport.(*http.Transport).Clone()
	w.base.MaxIdleConnsPerHost = 100 // the default, 2, is for browsing
	w.client = &http.Client{Transport: headgate.NewTransport(w.throttle, dialect.OpenAI, headgate.WithBase(tripper(w.send)))}
	return w, nil
}

// observe notes how long Redis was away, as the library saw it.
func (w *worker) observe(e throttle.Event) {
	switch e.Kind {
	case throttle.EventOutageStart:
		w.book.outage(time.Since(w.Start), true)
	case throttle.EventOutageEnd:
		w.book.outage(time.Since(w.Start), false)
	}
}

// A tripper is a function as an http.RoundTripper.
type tripper func(*http.Request) (*http.Response, error)

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// send is behind the throttle: what comes here goes to the vendor.
func (w *worker) send(r *http.Request) (*http.Response, error) {
	now := time.Now()
	r = r.Clone(r.Context())
	if c, ok := r.Context().Value(callKey{}).(*call); ok {
		c.Decided = now.Sub(w.Start)
		origin{lane: c.Lane, process: w.Process, call: c.Number, sent: now}.tell(r.Header)
	}
	return w.base.RoundTrip(r)
}

func (w *worker) close() {
	w.closing.Do(func() {
		if w.throttle != nil {
			_ = w.throttle.Close()
		}
		if w.base != nil {
			w.base.CloseIdleConnections()
		}
		_ = w.store.Close()
		_ = w.redis.Close()
	})
}

// leftBehind closes the worker and returns how many goroutines more there are
// than before it was made, once they had time to end. A command that hung in
// the client ends by the client's own timeouts.
func (w *worker) leftBehind(own int) int {
	w.close()
	left := 0
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		if left = runtime.NumGoroutine() - w.before - own; left <= 0 {
			return 0
		}
	}
	return left
}

// laneOf is a lane by its name, as a caller puts it into a context.
func laneOf(ctx context.Context, name string) context.Context {
	return lanes.With(ctx, lanes.Lane{Name: name})
}
