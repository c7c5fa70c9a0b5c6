package main

import (
	"cmp"
	"slices"
)

// A goal is a figure and what it is to be.
type goal struct {
	part   string
	what   string
	figure float64
	bound  float64
	least  bool   // the figure is to be at least bound, not at most
	unit   string // "x" for ratios
	why    string // what stands beside it in the table
}

// met reports whether the goal is reached. What isn't a number never is.
func (g goal) met() bool {
	if g.least {
		return g.figure >= g.bound
	}
	return g.figure <= g.bound
}

// share is how far the figure is from its bound, as a factor: 1 is just
// reached, 2 twice as good, 0.5 half as good.
func (g goal) share() float64 {
	if g.least {
		return g.figure / g.bound
	}
	return g.bound / g.figure
}

func (b *bench) atMost(part, what string, figure, bound float64, unit, why string) {
	b.goals = append(b.goals, goal{part: part, what: what, figure: figure, bound: bound, unit: unit, why: why})
}

func (b *bench) atLeast(part, what string, figure, bound float64, unit, why string) {
	b.goals = append(b.goals, goal{part: part, what: what, figure: figure, bound: bound, unit: unit, why: why, least: true})
}

func unmet(goals []goal) (n int) {
	for _, g := range goals {
		if !g.met() {
			n++
		}
	}
	return n
}

// byPart puts goals of one part together, parts in the order in which they first
// appear.
func byPart(goals []goal) {
	first := map[string]int{}
	for i, g := range goals {
		if _, seen := first[g.part]; !seen {
			first[g.part] = i
		}
	}
	slices.SortStableFunc(goals, func(a, b goal) int { return cmp.Compare(first[a.part], first[b.part]) })
}
