// Command peerbench measures headgate against its peers and against floors that
// nothing can fall below, all within one run on one machine, and says of each
// goal whether it was met.
//
//	go run . -svg ../../docs/bench.svg     (or: make bench)
//	go run . -rounds 1 -time 50ms -only shared
//
// Contestants take turns in short slices, several rounds long, in another order
// each time; what is compared are ratios within a round, and of those the
// median counts. Nothing is said of absolute times, which belong to a machine.
//
// It starts a redis-server of its own on a free port. Headgate's budget has a
// request limit, a token limit and an account limit in all of it, and pauses and
// key state are checked with every call; a peer checks the one limit it has.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "peerbench:", err)
		os.Exit(1)
	}
}

// settings are what the command line says.
type settings struct {
	rounds  int
	slice   time.Duration
	only    *regexp.Regexp
	profile *regexp.Regexp
	out     string // directory of profiles
	svg     string
	strict  bool
}

func parse(args []string, errs io.Writer) (settings, error) {
	var s settings
	var only, profile string
	f := flag.NewFlagSet("peerbench", flag.ContinueOnError)
	f.SetOutput(errs)
	f.IntVar(&s.rounds, "rounds", 7, "how often each contestant gets a slice of time")
	f.DurationVar(&s.slice, "time", 100*time.Millisecond, "how long a slice is")
	f.StringVar(&only, "only", "", "regular expression of the `parts` to measure: shared, refused, ...")
	f.StringVar(&profile, "profile", "", "regular expression of \"contest: contestant\": profile those into -out")
	f.StringVar(&s.out, "out", ".", "`directory` of profiles")
	f.StringVar(&s.svg, "svg", "", "`file` to draw the chart into")
	f.BoolVar(&s.strict, "strict", false, "exit with 1 unless every goal is met")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if s.rounds < 1 || s.slice <= 0 {
		return s, errors.New("-rounds and -time must be above zero")
	}
	var err error
	if s.only, err = regexp.Compile(only); err != nil {
		return s, err
	}
	if profile != "" {
		s.profile, err = regexp.Compile(profile)
	}
	return s, err
}

// A part measures one group of goals.
type part struct {
	name string
	run  func(*bench)
}

var parts = []part{
	{"shared", shared},
	{"refused", refused},
	{"leased", leased},
	{"transport", transport},
	{"distance", distance},
	{"store/budget", (*bench).memoryOfABudget},
	{"store/credentials", (*bench).memoryOfMany},
	{"store/script", (*bench).scriptTime},
	{"growth/waiting", (*bench).manyWaiting},
	{"growth/budgets", (*bench).manyBudgets},
	{"growth/limits", (*bench).manyLimits},
	{"growth/processes", (*bench).manyProcesses},
	{"quota", quota},
}

func run(args []string, out, errs io.Writer) error {
	s, err := parse(args, errs)
	if err != nil {
		return err
	}
	b := &bench{settings: s, log: errs}
	began := time.Now()
	for _, p := range parts {
		if !s.only.MatchString(p.name) {
			continue
		}
		fmt.Fprintf(errs, "%4.0fs  %s\n", time.Since(began).Seconds(), p.name)
		if err := b.measure(p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	b.took = time.Since(began)
	byPart(b.goals)
	report(out, b)
	if s.svg != "" {
		if err := os.WriteFile(s.svg, draw(b), 0o644); err != nil {
			return err
		}
	}
	if n := unmet(b.goals); n > 0 && s.strict {
		return fmt.Errorf("%d of %d goals are not met", n, len(b.goals))
	}
	return nil
}
