package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// A table is what a run found: figures, and what some of them must be.
type table struct {
	title string
	rows  []row
}

type row struct {
	what, figure string
	rule         string // "": a figure that nothing depends on
	kept         bool
}

// show adds a figure.
func (t *table) show(what string, figure any) {
	t.rows = append(t.rows, row{what: what, figure: text(figure)})
}

// require adds a figure, what it must be, and whether it is.
func (t *table) require(what string, figure any, rule string, kept bool) {
	t.rows = append(t.rows, row{what: what, figure: text(figure), rule: rule, kept: kept})
}

// broken is how many rules don't hold.
func (t *table) broken() int {
	n := 0
	for _, r := range t.rows {
		if r.rule != "" && !r.kept {
			n++
		}
	}
	return n
}

func (t *table) rules() int {
	n := 0
	for _, r := range t.rows {
		if r.rule != "" {
			n++
		}
	}
	return n
}

const figureHead, ruleHead = "figure", "rule"

// print writes the table with figures right-aligned, the way figures compare.
func (t *table) print(w io.Writer) {
	what, figure, rule := 0, len(figureHead), len(ruleHead)
	for _, r := range t.rows {
		what = max(what, utf8.RuneCountInString(r.what))
		figure = max(figure, utf8.RuneCountInString(r.figure))
		rule = max(rule, utf8.RuneCountInString(r.rule))
	}
	fmt.Fprintf(w, "\n%s\n", t.title)
	fmt.Fprintf(w, "  %-*s  %*s  %s\n", what, "", figure, figureHead, ruleHead)
	for _, r := range t.rows {
		line := fmt.Sprintf("  %-*s  %*s", what, r.what, figure, r.figure)
		if r.rule != "" {
			line += fmt.Sprintf("  %-*s  %s", rule, r.rule, mark(r.kept))
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

func mark(kept bool) string {
	if kept {
		return "ok"
	}
	return "BROKEN"
}

// text writes a figure with the digits that mean something.
func text(figure any) string {
	switch f := figure.(type) {
	case time.Duration:
		return fmt.Sprint(f.Round(time.Millisecond))
	case fine:
		return fmt.Sprint(time.Duration(f).Round(100 * time.Microsecond))
	case percent:
		return fmt.Sprintf("%.2f %%", float64(f))
	case float64:
		return fmt.Sprintf("%.3f", f)
	}
	return fmt.Sprint(figure)
}

// percent is a share of a hundred.
type percent float64

// fine is a duration of which a tenth of a millisecond means something.
type fine time.Duration
