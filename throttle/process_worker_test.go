//go:build unix

package throttle_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/procs"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
	"github.com/redis/go-redis/v9"
)

func init() { procs.Serve("worker", &Worker{permits: map[int]throttle.Permit{}}) }

// A Worker is a throttle on a Redis in a process of its own, which does as it
// is told.
type Worker struct {
	th      *throttle.Throttle
	mu      sync.Mutex
	permits map[int]throttle.Permit // those that are out
	granted int
	loads   loads
}

// A Setup is what of a configuration crosses from one process to another.
type Setup struct {
	Addr, Prefix string
	Timeout      time.Duration
	Budgets      []throttle.Budget
	Lanes        []lanes.Lane
	Lease        leasing.Policy
	Outage       throttle.Outage
	Pause        pause.Policy
	Every        time.Duration // of probes
}

// config is the setup with a store of its own.
func (s *Setup) config() (throttle.Config, func(), error) {
	client := redis.NewClient(&redis.Options{Addr: s.Addr})
	store, err := throttle.NewRedisStore(client, throttle.RedisOptions{Prefix: s.Prefix, Timeout: s.Timeout})
	if err != nil {
		return throttle.Config{}, nil, errors.Join(err, client.Close())
	}
	c := throttle.Config{
		Store: store, Budgets: s.Budgets, Lanes: s.Lanes, Lease: s.Lease, Outage: s.Outage, Pause: s.Pause,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	c.Probe.Every = s.Every
	return c, func() { _, _ = store.Close(), client.Close() }, nil
}

// throttle is one of the setup in this process.
func (s *Setup) throttle(t testing.TB) *throttle.Throttle {
	t.Helper()
	c, end, err := s.config()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return newThrottle(t, c)
}

// worker is one of the setup in a process of its own.
func (s *Setup) worker(t testing.TB) *procs.Process {
	t.Helper()
	p := procs.Start(t, "worker")
	p.Call(t, "Open", s, new(int))
	return p
}

// Open makes the throttle.
func (w *Worker) Open(s Setup, _ *int) error {
	c, _, err := s.config()
	if err != nil {
		return err
	}
	w.th, err = throttle.New(c)
	return err
}

// A Want is a call that is wanted.
type Want struct {
	Lane string
	Cost throttle.Cost
	For  time.Duration // the caller's patience; 0: as long as the lane's
}

// A Fate is what became of it.
type Fate struct {
	Permit     int // 0: it was denied
	Probe      bool
	Denied     string
	RetryAfter time.Duration
}

// Acquire makes a call, and keeps its permit.
func (w *Worker) Acquire(c Want, f *Fate) error {
	ctx := context.Background()
	if c.For > 0 {
		patient, cancel := context.WithTimeout(ctx, c.For)
		defer cancel()
		ctx = patient
	}
	p, err := w.th.Acquire(ctx, throttle.Call{Key: key, Model: model, Cost: c.Cost, Lane: lanes.Lane{Name: c.Lane}})
	if err != nil {
		var e *throttle.DeniedError
		if f.Denied = err.Error(); errors.As(err, &e) {
			f.Denied, f.RetryAfter = e.Reason.Error(), e.RetryAfter
		}
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.granted++
	f.Permit, f.Probe = w.granted, p.Probe()
	w.permits[f.Permit] = p
	return nil
}

// An Ending is what is done with a permit.
type Ending struct {
	Permit  int
	Verdict *throttle.Verdict
	Actual  *throttle.Cost // nil: the estimate
}

// End ends a call, after the vendor's answer if there is one.
func (w *Worker) End(e Ending, _ *int) error {
	w.mu.Lock()
	p := w.permits[e.Permit]
	delete(w.permits, e.Permit)
	w.mu.Unlock()
	if e.Verdict != nil {
		p.Answered(*e.Verdict)
	}
	if e.Actual != nil {
		p.Settle(*e.Actual)
	}
	p.Done()
	return nil
}

// Status says how many calls wait here, and can go by a lease.
func (w *Worker) Status(_ int, n *[2]int64) error {
	s, err := w.th.Status(context.Background())
	n[0] = int64(s.Waiting)
	for _, b := range s.Budgets {
		n[1] += b.Leased
	}
	return err
}

// loads are calls without end.
type loads struct {
	stop chan struct{}
	wg   sync.WaitGroup
	went atomic.Int64
	mu   sync.Mutex
	last []int64 // by caller: when the last call began that went
}

// A Load is callers that call again and again.
type Load struct {
	Callers int
	Lane    string
	For     time.Duration // each call's patience
	Between time.Duration // from one to the next
}

// Begin begins a load.
func (w *Worker) Begin(l Load, _ *int) error {
	w.loads.stop, w.loads.last = make(chan struct{}), make([]int64, l.Callers)
	for i := range l.Callers {
		w.loads.wg.Go(func() {
			for again := time.NewTicker(l.Between); ; {
				select {
				case <-w.loads.stop:
					again.Stop()
					return
				case <-again.C:
				}
				var f Fate
				began := time.Now().UnixNano()
				if w.Acquire(Want{Lane: l.Lane, For: l.For}, &f); f.Permit > 0 {
					w.loads.went.Add(1)
					w.loads.mu.Lock()
					w.loads.last[i] = began
					w.loads.mu.Unlock()
					_ = w.End(Ending{Permit: f.Permit}, nil)
				}
			}
		})
	}
	return nil
}

// Went is how many calls of the load went so far.
func (w *Worker) Went(_ int, n *int64) error { *n = w.loads.went.Load(); return nil }

// Last is when the last call of the load began that went, in Unix nanoseconds.
func (w *Worker) Last(_ int, at *int64) error {
	w.loads.mu.Lock()
	defer w.loads.mu.Unlock()
	*at = slices.Max(w.loads.last)
	return nil
}

// Cease ends the load and says how many calls of it went.
func (w *Worker) Cease(_ int, n *int64) error {
	close(w.loads.stop)
	w.loads.wg.Wait()
	return w.Went(0, n)
}

// Close closes the throttle, but not its store.
func (w *Worker) Close(_ int, took *time.Duration) error {
	start := time.Now()
	err := w.th.Close()
	*took = time.Since(start)
	return err
}
