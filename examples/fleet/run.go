package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/headgate-go/headgate/throttle"
)

// A run is a plan that is carried out.
type run struct {
	plan
	vendor *vendor
	store  *store
	owned  bool // the store is the run's own
	prefix string
	key    string
	limits []throttle.Limit
	start  time.Time

	mu        sync.Mutex
	processes []*process
	dead      []*process // were replaced
	born      int        // processes so far
	history   history
}

// A history is what is known of a run once it is over: all that its figures
// and rules are computed from. Times are after the start.
type history struct {
	plan
	Arrivals   []arrival
	Calls      []call
	Reports    int    // workers that lived to tell
	Outages    []span // as the workers noticed them
	Hangs      []span // of Redis, as the script had it
	Storms     []span
	Revoked    []span
	Kills      []death
	Trips      int
	Goroutines int // left behind
	Noise      []lateness
	MeanNoise  time.Duration
	MostNoise  time.Duration // the 99th percentile, of the worker with the highest
	Stragglers int
	Leftovers  leftovers
}

// A death is a process that was killed.
type death struct {
	At      time.Duration
	Process int
	Probing bool
}

// hiring bounds how many processes are started at a time.
var hiring = make(chan struct{}, 4)

// prepare starts all that the plan needs. redis is the address of one that may
// be shared; "": the run has its own.
func (p plan) prepare(ctx context.Context, redis string) (_ *run, err error) {
	r := &run{plan: p, prefix: "headgate-fleet-" + p.Name + "-" + uuid.NewString()[:8], key: "sk-" + uuid.NewString()}
	r.history.plan = p
	defer func() {
		if err != nil {
			r.close()
			err = fmt.Errorf("%s: %w", p.Name, err)
		}
	}()
	if r.vendor, err = startVendor(p, r.key); err != nil {
		return nil, err
	}
	r.owned = redis == ""
	if r.store, err = openStore(ctx, p, redis); err != nil {
		return nil, err
	}
	r.processes = make([]*process, p.Processes)
	starting, ctx2 := errgroup.WithContext(ctx)
	for i := range r.processes {
		starting.Go(func() error {
			select {
			case hiring <- struct{}{}:
				defer func() { <-hiring }()
			case <-ctx2.Done():
				return ctx2.Err()
			}
			var err error
			r.processes[i], err = startProcess(ctx)
			return err
		})
	}
	return r, starting.Wait()
}

// perform lets everybody work from start on, and returns once the last worker
// has reported.
func (r *run) perform(ctx context.Context, start time.Time) error {
	r.start = start
	r.vendor.begin(start, r.Window)
	r.limits = mirror(r.plan, time.Duration(start.UnixNano()%int64(r.Window)))
	hiring, _ := errgroup.WithContext(ctx)
	for i, p := range r.processes {
		hiring.Go(func() error { return p.hire(r.job(i, 0)) })
	}
	if err := hiring.Wait(); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	playing := make(chan error, 1)
	go func() { playing <- r.play(ctx) }()
	if !sleepUntil(ctx, start.Add(r.For)) {
		return ctx.Err()
	}
	if err := <-playing; err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	if err := r.collect(); err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	return nil
}

// many is more calls than a process makes.
const many = 10_000_000

func (r *run) job(process, generation int) job {
	return job{
		Plan: r.plan, Vendor: r.vendor.url, Key: r.key, Addr: r.store.Addr, Sentry: r.store.Sentinel, Prefix: r.prefix,
		Limits: r.limits, Process: process, First: generation * many, Start: r.start,
	}
}

// collect hears the workers' reports, and puts the history together.
func (r *run) collect() error {
	h := &r.history
	for _, p := range r.processes {
		rep, err := p.report()
		if err != nil {
			return err
		}
		if rep == nil {
			continue
		}
		h.Reports++
		h.Calls = append(h.Calls, rep.Calls...)
		h.Outages = append(h.Outages, rep.Outages...)
		h.Trips += rep.Trips
		h.Goroutines += rep.Goroutines
		h.Noise = append(h.Noise, rep.Noise...)
		h.MeanNoise += rep.MeanNoise
		h.MostNoise = max(h.MostNoise, rep.MostNoise)
	}
	if h.Reports > 0 {
		h.MeanNoise /= time.Duration(h.Reports)
	}
	h.Arrivals, h.Stragglers = r.vendor.arrivals(), r.vendor.network.late()
	return nil
}

// close ends what is the run's own.
func (r *run) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range append(r.processes, r.dead...) {
		if p != nil {
			all.Go(p.close)
		}
	}
	all.Wait()
	if r.vendor != nil {
		_ = r.vendor.Close()
	}
	if r.store != nil && r.owned {
		r.store.stop()
	}
}
