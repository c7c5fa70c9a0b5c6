package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/examples/internal/trips"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/probe"
	"github.com/headgate-go/headgate/throttle"
)

// The models, each with a budget of its own.
const (
	chat  = "gpt-4o-mini"
	quick = "gpt-4.1-nano"
)

// redisTimeout is far above the default, 50 ms. Here the vendor, the fleet and perhaps
// Redis compete for one machine's processors, and that is not to look like the
// loss of Redis, in which each process goes on by itself.
const redisTimeout = 2 * time.Second

// A worker is a service as headgate's users write it: one throttle, one
// http.Client around it, and calls.
type worker struct {
	job      job
	redis    *redis.Client // nil without Redis
	store    *throttle.RedisStore
	throttle *throttle.Throttle
	client   *http.Client
	base     *http.Transport
	closing  sync.Once
	outages  atomic.Int64
	trips    trips.Counter
	out      atomic.Int64 // calls that were let through and not answered yet
}

// newWorker builds what the job asks for.
func newWorker(j job) (*worker, error) {
	w := &worker{job: j}
	patient := lanes.Live
	patient.Wait = j.Patience
	config := throttle.Config{
		Budgets: []throttle.Budget{{
			Models: []string{"gpt-4o*"},
			Limits: []throttle.Limit{j.Limit},
		}},
		Lanes: []lanes.Lane{patient, lanes.Background},
		Probe: probe.Policy{Every: j.ProbeEvery},
		Lease: j.lease(),
		// Its lines would stand between the tables.
		Logger:  slog.New(slog.DiscardHandler),
		Observe: w.observe,
	}
	if j.Second.Amount > 0 {
		config.Budgets = append(config.Budgets, throttle.Budget{Models: []string{quick}, Limits: []throttle.Limit{j.Second}})
	}
	if j.Redis != "" {
		if err := w.connect(); err != nil {
			return nil, err
		}
		config.Store = w.store
	}
	th, err := throttle.New(config)
	if err != nil {
		w.close()
		return nil, err
	}
	w.throttle = th
	w.base = http.DefaultTransport.(*http.Transport).Clone()
	w.base.MaxIdleConnsPerHost = crowd // the default, 2, is for browsing
	w.client = &http.Client{Transport: headgate.NewTransport(th, dialect.OpenAI, headgate.WithBase(tripper(w.send)))}
	return w, nil
}

// observe counts the times that Redis didn't answer in time. headgate goes on
// without it, but then processes can't hear of each other.
func (w *worker) observe(e throttle.Event) {
	if e.Kind == throttle.EventOutageStart {
		w.outages.Add(1)
	}
}

func (w *worker) connect() error {
	w.redis = redis.NewClient(&redis.Options{Addr: w.job.Redis})
	w.redis.AddHook(&w.trips)
	var err error
	options := throttle.RedisOptions{Prefix: w.job.Prefix, Timeout: redisTimeout}
	if w.store, err = throttle.NewRedisStore(w.redis, options); err != nil {
		_ = w.redis.Close()
		return fmt.Errorf("redis at %s: %w", w.job.Redis, err)
	}
	return nil
}

// A tripper is a function as an http.RoundTripper.
type tripper func(*http.Request) (*http.Response, error)

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// send is behind the throttle: what comes here goes to the vendor.
func (w *worker) send(r *http.Request) (*http.Response, error) {
	w.out.Add(1)
	defer w.out.Add(-1)
	return w.base.RoundTrip(r)
}

func (w *worker) close() { w.closing.Do(w.end) }

func (w *worker) end() {
	if w.throttle != nil {
		_ = w.throttle.Close()
		w.base.CloseIdleConnections()
	}
	if w.store != nil {
		_ = w.store.Close()
		_ = w.redis.Close()
	}
}
