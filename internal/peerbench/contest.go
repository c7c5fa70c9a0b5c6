package main

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A job does one unit of work for the numbered worker.
type job func(worker int) error

// A contestant is one way to do what the others of its contest do, too.
type contestant struct {
	name string
	do   job
}

// A contest has its contestants take turns.
type contest struct {
	name    string
	workers int
	of      []contestant
	slice   time.Duration // 0: the run's
	rounds  int           // 0: the run's
}

// A slice is what a contestant did in one round.
type slice struct {
	took      float64 // nanoseconds per unit of work
	cpu       float64 // nanoseconds that this process computed, per unit
	allocs    float64 // per unit
	scripts   float64 // round trips of scripts, per unit
	scriptRun float64 // microseconds that a script ran in Redis
	server    float64 // nanoseconds that Redis computed, per unit
}

// turns is how often the contestants take turns within a round: what slows the
// machine down for a while should hit all of them.
const turns = 3

// A board is the outcome of a contest: the slices of each contestant, by round.
type board struct {
	contest
	slices map[string][]slice
}

// hold runs a contest and keeps its board.
func (b *bench) hold(c contest) board {
	if c.slice == 0 {
		c.slice = b.slice
	}
	if c.rounds == 0 {
		c.rounds = b.rounds
	}
	out := board{contest: c, slices: map[string][]slice{}}
	for _, p := range c.of { // connections, scripts, leases
		b.run(c, p, min(c.slice, 50*time.Millisecond))
	}
	for round := range c.rounds {
		runtime.GC() // not in the time of whoever comes first
		sums := make([]tally, len(c.of))
		for turn := range turns {
			for i := range c.of {
				i = (i + round + turn) % len(c.of)
				sums[i].add(b.run(c, c.of[i], c.slice/turns))
			}
		}
		for i, p := range c.of {
			out.slices[p.name] = append(out.slices[p.name], sums[i].slice())
		}
	}
	fmt.Fprintf(b.log, "       %s:", c.name)
	for _, p := range c.of {
		fmt.Fprintf(b.log, " %s %s;", p.name, span(median(out.times(p.name))))
	}
	fmt.Fprintln(b.log)
	b.profileAll(c)
	b.boards = append(b.boards, out)
	return out
}

// run gives a contestant one turn.
func (b *bench) run(c contest, p contestant, d time.Duration) tally {
	before := b.count()
	n, took, err := work(p.do, c.workers, d)
	t := b.count().minus(before)
	t.n, t.took = float64(n), float64(took)
	if err != nil {
		b.Fatalf("%s: %s: %v", c.name, p.name, err)
	}
	return t
}

// work has workers do the job for as long as d, each once at least, and returns
// how often they did it and how long that took.
func work(do job, workers int, d time.Duration) (n int64, took time.Duration, err error) {
	var stop atomic.Bool
	var total atomic.Int64
	var failed atomic.Pointer[failure]
	var wg sync.WaitGroup
	began := time.Now()
	over := time.AfterFunc(d, func() { stop.Store(true) })
	defer over.Stop()
	for w := range workers {
		wg.Go(func() {
			count := int64(0)
			for {
				if err := do(w); err != nil {
					failed.CompareAndSwap(nil, &failure{err})
					stop.Store(true)
					break
				}
				if count++; stop.Load() {
					break
				}
			}
			total.Add(count)
		})
	}
	wg.Wait()
	took = time.Since(began)
	if e := failed.Load(); e != nil {
		return 0, took, e.error
	}
	return total.Load(), took, nil
}
