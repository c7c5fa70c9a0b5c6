package main

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// A report is what the vendor saw.
type report struct {
	arrived int
	span    time.Duration   // from the first to the last
	gaps    []time.Duration // between one and the next, shortest first
	fullest int             // the most that came within one second
	most    int             // at once
}

func newReport(arrived []time.Time, most int) report {
	slices.SortFunc(arrived, time.Time.Compare)
	r := report{arrived: len(arrived), most: most}
	first := 0
	for i, at := range arrived {
		if i > 0 {
			r.gaps = append(r.gaps, at.Sub(arrived[i-1]))
		}
		for at.Sub(arrived[first]) >= time.Second {
			first++
		}
		r.fullest = max(r.fullest, i-first+1)
	}
	if len(arrived) > 0 {
		r.span = arrived[len(arrived)-1].Sub(arrived[0])
	}
	slices.Sort(r.gaps)
	return r
}

// What must hold, with room for what happens to requests between the throttle
// and the vendor on a machine that is busy.
const (
	leastSpan = (messages - 1) * time.Second / perSecond * 9 / 10
	mostInOne = perSecond * 3 / 2
)

func (r report) complete() bool { return r.arrived == messages }
func (r report) paced() bool    { return r.span >= leastSpan }
func (r report) even() bool     { return r.fullest <= mostInOne }
func (r report) bounded() bool  { return r.most <= inFlight }

// broken is how many rules don't hold.
func (r report) broken() (n int) {
	for _, kept := range []bool{r.complete(), r.paced(), r.even(), r.bounded()} {
		if !kept {
			n++
		}
	}
	return n
}

func (r report) print(out io.Writer) {
	line := func(what, figure, rule string) { fmt.Fprintf(out, "  %-45s %9s  %s\n", what, figure, rule) }
	line("reached the vendor", fmt.Sprint(r.arrived), rule(r.complete(), fmt.Sprint(messages)))
	line("from the first to the last", short(r.span), rule(r.paced(), "at least "+short(leastSpan)))
	line("most within one second", fmt.Sprint(r.fullest), rule(r.even(), fmt.Sprintf("at most %d", mostInOne)))
	line("most at once", fmt.Sprint(r.most), rule(r.bounded(), fmt.Sprintf("at most %d", inFlight)))
	for _, q := range []struct {
		what string
		part float64
	}{{"shortest", 0}, {"a tenth are below", 0.1}, {"half are below", 0.5}, {"nine tenths are below", 0.9}, {"longest", 1}} {
		line("gap between messages: "+q.what, short(r.gap(q.part)), "")
	}
}

// gap is the gap that a part of them doesn't exceed.
func (r report) gap(part float64) time.Duration {
	if len(r.gaps) == 0 {
		return 0
	}
	return r.gaps[int(part*float64(len(r.gaps)-1))]
}

func rule(kept bool, want string) string {
	if kept {
		return want + "  ok"
	}
	return want + "  BROKEN"
}

func short(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }
