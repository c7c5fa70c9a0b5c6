package main

import (
	"os"
	"testing"

	"github.com/headgate-go/headgate/internal/redistest"
)

// The test binary is its own worker process, as the program is.
func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		serve(os.Stdin, os.Stdout)
		return
	}
	os.Exit(redistest.Main(m))
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string // name of the only plan; "": refused
	}{
		{nil, "two-counter-600"},
		{[]string{"-vendor", "bucket-1s", "-rate", "60"}, "bucket-1s-60"},
		{[]string{"-fault", "storm", "-processes", "2"}, "storm"},
		{[]string{"-fault", "flood"}, "flood"},
		{[]string{"-vendor", "leaky"}, ""},
		{[]string{"-fault", "flood!"}, ""},
		{[]string{"-rate", "1"}, ""}, // a sixth of a request in ten seconds
		{[]string{"-rate", "6", "-window", "0s"}, ""},
		{[]string{"-load", "0"}, ""},
		{[]string{"-processes", "0"}, ""},
		{[]string{"-tokens", "60"}, ""},
		{[]string{"surplus"}, ""},
	} {
		_, stages, err := parse(c.args)
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%v: accepted", c.args)
		case c.want != "" && err != nil:
			t.Errorf("%v: %v", c.args, err)
		case c.want != "" && (len(stages) != 1 || len(stages[0]) != 1 || stages[0][0].Name != c.want):
			t.Errorf("%v: %+v, want %s", c.args, stages, c.want)
		}
	}
}

func TestParseGivesThePlanWhatWasSaid(t *testing.T) {
	t.Parallel()
	_, stages, err := parse([]string{"-processes", "3", "-callers", "5", "-tokens", "6000", "-load", "2", "-window", "20s"})
	if err != nil {
		t.Fatal(err)
	}
	p := stages[0][0]
	if p.Processes != 3 || p.Callers != 5 || p.Streams != nil || p.tokens() != 2000 || p.amount() != 200 {
		t.Errorf("%+v", p)
	}
}

// Everything has each vendor at each rate, each fault, and names that differ:
// charts are called after them.
func TestAllHasEveryGoal(t *testing.T) {
	t.Parallel()
	_, stages, err := parse([]string{"-all"})
	if err != nil {
		t.Fatal(err)
	}
	seen, found := map[string]bool{}, map[fault]bool{}
	var lasts float64
	for _, s := range stages {
		longest := 0.0
		for _, p := range s {
			if seen[p.Name] {
				t.Errorf("two plans are called %s", p.Name)
			}
			seen[p.Name], found[p.Fault] = true, true
			if p.From >= p.For || p.amount() < 1 {
				t.Errorf("%s: %+v", p.Name, p)
			}
			longest = max(longest, p.For.Seconds())
		}
		lasts += longest
	}
	for _, a := range algorithms {
		for _, rate := range []string{"60", "600", "6000"} {
			if !seen[string(a)+"-"+rate] {
				t.Errorf("no plan for %s at %s", a, rate)
			}
		}
	}
	for _, f := range faults {
		if !found[f] {
			t.Errorf("no plan for the fault %s", f)
		}
	}
	if lasts > 480 {
		t.Errorf("all plans take %.0f s, and that without starting and waiting", lasts)
	}
}

func TestStreamsAreDealtOut(t *testing.T) {
	t.Parallel()
	p := plan{Rate: 600, Processes: 4, For: 2_000_000_000}
	s := stream{Load: 2, First: 1, Last: 3} // 20 a second
	var due []string
	for process := range 4 {
		for n := range 100 {
			at, any := s.at(p, process, n)
			if !any {
				break
			}
			if n < 2 {
				due = append(due, at.String())
			}
		}
	}
	want := []string{"0s", "100ms", "50ms", "150ms"} // of process 1, then of 2
	if len(due) != len(want) {
		t.Fatalf("%v, want %v", due, want)
	}
	for i := range want {
		if due[i] != want[i] {
			t.Errorf("%v, want %v", due, want)
		}
	}
}
