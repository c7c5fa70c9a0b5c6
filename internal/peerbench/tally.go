package main

import (
	"runtime"
	"syscall"
	"time"
)

// A tally is what was counted: as it stands, or over a time.
type tally struct {
	n, took     float64 // units of work, nanoseconds
	cpu, server float64 // nanoseconds that this process and Redis computed
	allocs      float64
	scripts     scriptStats
}

// count reads the counters as they stand.
func (b *bench) count() tally {
	var mem runtime.MemStats
	t := tally{scripts: b.scriptStats()}
	t.server = 1e9 * (b.serverFigure("cpu", "used_cpu_user") + b.serverFigure("cpu", "used_cpu_sys"))
	runtime.ReadMemStats(&mem)
	t.allocs = float64(mem.Mallocs)
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) == nil {
		t.cpu = float64(time.Duration(use.Utime.Nano() + use.Stime.Nano()))
	}
	return t
}

func (t tally) minus(before tally) tally {
	return tally{
		n: t.n - before.n, took: t.took - before.took,
		cpu: t.cpu - before.cpu, server: t.server - before.server,
		allocs:  t.allocs - before.allocs,
		scripts: scriptStats{t.scripts.calls - before.scripts.calls, t.scripts.micros - before.scripts.micros},
	}
}

func (t *tally) add(o tally) {
	t.n, t.took = t.n+o.n, t.took+o.took
	t.cpu, t.server = t.cpu+o.cpu, t.server+o.server
	t.allocs += o.allocs
	t.scripts.calls += o.scripts.calls
	t.scripts.micros += o.scripts.micros
}

// slice is the tally per unit of work.
func (t tally) slice() slice {
	s := slice{took: t.took / t.n, cpu: t.cpu / t.n, server: t.server / t.n, allocs: t.allocs / t.n, scripts: float64(t.scripts.calls) / t.n}
	if t.scripts.calls > 0 {
		s.scriptRun = float64(t.scripts.micros) / float64(t.scripts.calls)
	}
	return s
}
