package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/probe"
	"github.com/headgate-go/headgate/throttle"
)

const model = "gpt-4o-mini"

// redisTimeout is far above the default, 50 ms. Here the vendor, the fleet and perhaps
// Redis compete for one machine's processors, and that is not to look like the
// loss of Redis, in which each process goes on by itself.
const redisTimeout = 2 * time.Second

// callTimeout is what a call may take, waiting included. It is more than any
// call here takes: lanes bound the waiting.
const callTimeout = 10 * time.Second

// A worker is a service as headgate's users write it: one throttle, one
// http.Client around it, and calls.
type worker struct {
	job      job
	redis    *redis.Client // nil without Redis
	store    *throttle.RedisStore
	throttle *throttle.Throttle
	client   *http.Client
	base     *http.Transport
	outages  atomic.Int64
}

// newWorker builds what the job asks for. The hooks see what goes to Redis.
func newWorker(j job, hooks ...redis.Hook) (*worker, error) {
	w := &worker{job: j}
	patient := lanes.Live
	patient.Wait = j.Patience
	config := throttle.Config{
		Budgets: []throttle.Budget{{
			Models: []string{"gpt-4o*"},
			Limits: []throttle.Limit{throttle.Requests(j.Amount, j.Per)},
		}},
		Lanes: []lanes.Lane{patient, lanes.Background},
		Probe: probe.Policy{Every: j.ProbeEvery},
		// Its lines would stand between the tables.
		Logger:  slog.New(slog.DiscardHandler),
		Observe: w.observe,
	}
	if j.Redis != "" {
		if err := w.connect(hooks); err != nil {
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
	w.client = &http.Client{Transport: headgate.NewTransport(th, dialect.OpenAI, headgate.WithBase(w.base))}
	return w, nil
}

// observe counts the times that Redis didn't answer in time. headgate goes on
// without it, but then processes can't hear of each other.
func (w *worker) observe(e throttle.Event) {
	if e.Kind == throttle.EventOutageStart {
		w.outages.Add(1)
	}
}

func (w *worker) connect(hooks []redis.Hook) error {
	w.redis = redis.NewClient(&redis.Options{Addr: w.job.Redis})
	for _, h := range hooks {
		w.redis.AddHook(h)
	}
	var err error
	options := throttle.RedisOptions{Prefix: w.job.Prefix, Timeout: redisTimeout}
	if w.store, err = throttle.NewRedisStore(w.redis, options); err != nil {
		_ = w.redis.Close()
		return fmt.Errorf("redis at %s: %w", w.job.Redis, err)
	}
	return nil
}

func (w *worker) close() {
	if w.throttle != nil {
		_ = w.throttle.Close()
		w.base.CloseIdleConnections()
	}
	if w.store != nil {
		_ = w.store.Close()
		_ = w.redis.Close()
	}
}

// run sends the job's streams from start on, and returns a tally by lane once
// every call has ended.
func (w *worker) run(ctx context.Context, start time.Time) map[string]tally {
	var all sync.WaitGroup
	tallies := make([]tally, len(w.job.Streams))
	for i, s := range w.job.Streams {
		all.Go(func() { tallies[i] = w.stream(ctx, s, start) })
	}
	all.Wait()
	byLane := map[string]tally{}
	for i, s := range w.job.Streams {
		tallies[i].Outages = int(w.outages.Swap(0))
		byLane[s.Lane] = tallies[i]
	}
	return byLane
}

// stream makes calls at their time, without waiting for those before to end.
func (w *worker) stream(ctx context.Context, s stream, start time.Time) tally {
	var (
		all sync.WaitGroup
		mu  sync.Mutex
		sum tally
	)
	for n := 0; s.at(w.job, n) < w.job.For; n++ {
		select {
		case <-time.After(time.Until(start.Add(s.at(w.job, n)))):
		case <-ctx.Done():
			all.Wait()
			return sum
		}
		all.Go(func() {
			one := w.call(ctx, s.Lane)
			mu.Lock()
			defer mu.Unlock()
			sum.add(one)
		})
	}
	all.Wait()
	return sum
}

// call is one call to the vendor. The lane travels in the context; that and
// the client are all that a caller sees of headgate.
func (w *worker) call(ctx context.Context, lane string) tally {
	ctx, cancel := context.WithTimeout(lanes.With(ctx, lanes.Lane{Name: lane}), callTimeout)
	defer cancel()
	began := time.Now()
	status, err := w.ask(ctx, lane)
	switch {
	case errors.Is(err, throttle.ErrDenied):
		return tally{Offered: 1, Denied: 1}
	case err != nil:
		return tally{Offered: 1, Failed: 1, Failure: err.Error()}
	case status != http.StatusOK:
		return tally{Offered: 1, Refused: 1}
	}
	return tally{Offered: 1, Answered: 1, Slowest: time.Since(began)}
}

func (w *worker) ask(ctx context.Context, lane string) (status int, err error) {
	body := strings.NewReader(`{"model":"` + model + `","max_tokens":5,"messages":[{"role":"user","content":"Is it open?"}]}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.job.Vendor+"/v1/chat/completions", body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+w.job.Key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(laneHeader, lane)
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}
