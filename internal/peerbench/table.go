package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
	"time"
)

// report writes what was measured: medians, contest by contest, then the goals.
func report(out io.Writer, b *bench) {
	fmt.Fprintf(out, "Medians of %d rounds, slices of %v; the ratio is to the contest's first, taken within rounds.\n\n", b.rounds, b.slice)
	table(out, contests(b.boards))
	fmt.Fprintf(out, "\nGoals: x is a ratio within this run.\n\n")
	table(out, goals(b.goals))
	fmt.Fprintf(out, "\n%d of %d goals are met. The run took %v.\n", len(b.goals)-unmet(b.goals), len(b.goals), b.took.Round(time.Second))
}

func table(out io.Writer, rows [][]string) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	_ = w.Flush()
}

func contests(boards []board) [][]string {
	rows := [][]string{{"contest", "contestant", "time per call", "ratio", "spread", "allocs", "round trips", "own CPU", "Redis CPU"}}
	for _, o := range boards {
		for i, c := range o.of {
			name := o.name
			if i > 0 {
				name = ""
			}
			times := o.times(c.name)
			spread := (quantile(times, 0.75) - quantile(times, 0.25)) / median(times)
			rows = append(rows, []string{
				name, c.name, span(median(times)), figure(o.slower(c.name, o.of[0].name)) + "x", fmt.Sprintf("%.0f%%", 100*spread),
				figure(o.allocs(c.name)), figure(o.scripts(c.name)),
				span(median(o.each(c.name, func(s slice) float64 { return s.cpu }))),
				span(median(o.each(c.name, func(s slice) float64 { return s.server }))),
			})
		}
	}
	return rows
}

func goals(goals []goal) [][]string {
	rows := [][]string{{"part", "goal", "figure", "bound", "", "beside it"}}
	for _, g := range goals {
		sign, verdict := "<=", "met"
		if g.least {
			sign = ">="
		}
		if !g.met() {
			verdict = "NOT MET"
		}
		rows = append(rows, []string{g.part, g.what, withUnit(g.figure, g.unit), sign + " " + withUnit(g.bound, g.unit), verdict, g.why})
	}
	return rows
}

func withUnit(x float64, unit string) string {
	switch unit {
	case "", "x":
		return figure(x) + unit
	}
	return figure(x) + " " + unit
}

// figure writes a number with three digits that count.
func figure(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x):
		return "none"
	case a == 0:
		return "0"
	case a < 0.0005:
		return fmt.Sprintf("%.1e", x)
	case a < 10:
		return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", x), "0"), ".")
	case a < 100:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
	}
	return fmt.Sprintf("%.0f", x)
}

// span writes nanoseconds.
func span(ns float64) string {
	switch {
	case math.IsNaN(ns):
		return "none"
	case ns < 1e3:
		return fmt.Sprintf("%.1f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.2f µs", ns/1e3)
	}
	return fmt.Sprintf("%.2f ms", ns/1e6)
}
