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
// contestant that -profile names.
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
	n, _, err := work(p.do, c.workers, profiled/3)
	runtime.MemProfileRate = rate
	if err != nil {
		return err
	}
	runtime.GC()
	fmt.Fprintf(b.log, "       profile %s: %d units noted\n", name, n)
	mem, err := os.Create(filepath.Join(b.out, name+".allocs"))
	if err != nil {
		return err
	}
	defer mem.Close()
	return pprof.Lookup("allocs").WriteTo(mem, 0)
}

var unfit = regexp.MustCompile(`[^a-zA-Z0-9]+`)

func fileName(s string) string { return unfit.ReplaceAllString(s, "-") }
