package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"time"
)

// profiled is how long a contestant runs for its profile.
const profiled = 3 * time.Second

// profileAll writes a CPU profile, and a profile of what was allocated, of each
// contestant that -profile names. The latter begins with the process: subtract
// what was there before, by `go tool pprof -base x.base x.allocs`.
func (b *bench) profileAll(c contest) {
	if b.profile == nil {
		return
	}
	for _, p := range c.of {
		if name := c.name + ": " + p.name; b.profile.MatchString(name) {
			b.must(b.profileOne(c, p, fileName(name)))
		}
	}
}

func (b *bench) profileOne(c contest, p contestant, name string) error {
	cpu, err := os.Create(filepath.Join(b.out, name+".cpu"))
	if err != nil {
		return err
	}
	defer cpu.Close()
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return err
	}
	_, _, err = work(p.do, c.workers, profiled)
	pprof.StopCPUProfile()
	if err != nil {
		return err
	}
	// Another run: to note every allocation takes time.
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 512
	defer func() { runtime.MemProfileRate = rate }()
	if err := b.writeAllocs(name + ".base"); err != nil {
		return err
	}
	n, _, err := work(p.do, c.workers, profiled/3)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.log, "       profile %s: %d units noted\n", name, n)
	return b.writeAllocs(name + ".allocs")
}

func (b *bench) writeAllocs(name string) error {
	runtime.GC() // until then what was allocated last isn't known
	runtime.GC()
	f, err := os.Create(filepath.Join(b.out, name))
	if err != nil {
		return err
	}
	defer f.Close()
	return pprof.Lookup("allocs").WriteTo(f, 0)
}

var unfit = regexp.MustCompile(`[^a-zA-Z0-9]+`)

func fileName(s string) string { return unfit.ReplaceAllString(s, "-") }
