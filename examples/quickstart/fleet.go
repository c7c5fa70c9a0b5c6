package main

import (
	"context"
	"sync"
	"time"

	"github.com/headgate-go/headgate"
)

// A fleet does one job together: a worker in this process, or several
// processes that share nothing but Redis.
type fleet struct {
	local     *worker
	processes []*process
	legacy    *legacy // of the process that was killed; nil: none was
}

// hiring is held for reading by those who hire, which keeps the machine busy:
// scenes that are played together start once none of them does.
var hiring sync.RWMutex

// hire builds a fleet for the job and returns once all of it is ready.
func (s *stage) hire(ctx context.Context, j job) (*fleet, error) {
	f, err := s.hireAtOnce(ctx, j)
	hiring.Lock()
	defer hiring.Unlock()
	return f, err
}

func (s *stage) hireAtOnce(ctx context.Context, j job) (*fleet, error) {
	hiring.RLock()
	defer hiring.RUnlock()
	// Keys of its own: leases depend on how many processes share those.
	j.Vendor, j.Redis, j.Prefix = s.vendor.url, s.redis, s.prefix+"-"+j.Key
	j.Workers, j.Paged = s.processes, s.pages != nil
	f := &fleet{}
	if s.redis == "" {
		var err error
		if f.local, err = newWorker(j); err == nil {
			s.pages.show(sceneOf(j), headgate.StatusHandler(f.local.throttle))
		}
		return f, err
	}
	for j.Worker = range j.Workers {
		p, err := startProcess(ctx, j)
		if err != nil {
			f.close()
			return nil, err
		}
		f.processes = append(f.processes, p)
		if p.page != "" {
			s.pages.show(sceneOf(j), passOn(p.page))
		}
	}
	return f, nil
}

// run has everybody work from start on, and returns the tallies by lane.
func (f *fleet) run(ctx context.Context, start time.Time) (map[string]tally, error) {
	if f.local != nil {
		return f.local.run(ctx, start), ctx.Err()
	}
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		sum  = map[string]tally{}
		fail error
	)
	for _, p := range f.processes {
		all.Go(func() {
			r, err := p.run(start)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				fail = err
			}
			if r.Legacy != nil {
				f.legacy = r.Legacy
			}
			for lane, t := range r.Tallies {
				merged := sum[lane]
				merged.add(t)
				sum[lane] = merged
			}
		})
	}
	all.Wait()
	return sum, fail
}

func (f *fleet) close() {
	if f.local != nil {
		f.local.close()
	}
	for _, p := range f.processes {
		p.close()
	}
}

// perform is hire, run and close: the whole of most scenes. At every cue the
// vendor does something.
func (s *stage) perform(ctx context.Context, j job, begin func() time.Time, cues ...cue) (map[string]tally, error) {
	f, err := s.hire(ctx, j)
	if err != nil {
		return nil, err
	}
	defer f.close()
	start := begin()
	for _, c := range cues {
		t := time.AfterFunc(time.Until(start.Add(c.at)), c.do)
		defer t.Stop()
	}
	return f.run(ctx, start)
}

// A cue is what happens to the vendor, and when after the start.
type cue struct {
	at time.Duration
	do func()
}
