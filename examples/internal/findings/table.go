// Package findings prints what the examples found, and what it had to be.
package findings

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// A Table is what a run found: figures, and what some of them must be. It is not
// safe for concurrent use. The zero value is an empty table without a title.
type Table struct {
	Title string
	rows  []row
}

type row struct {
	what, figure string
	rule         string // "": a figure that nothing depends on
	kept         bool
}

// Show adds a figure.
func (t *Table) Show(what string, figure any) {
	t.rows = append(t.rows, row{what: what, figure: text(figure)})
}

// Note adds a line without a figure.
func (t *Table) Note(what string) { t.rows = append(t.rows, row{what: what}) }

// Require adds a figure, what it must be, and whether it is.
func (t *Table) Require(what string, figure any, rule string, kept bool) {
	t.rows = append(t.rows, row{what: what, figure: text(figure), rule: rule, kept: kept})
}

// Broken is how many rules don't hold.
func (t *Table) Broken() int { return len(t.Breaches()) }

// Breaches are the figures that aren't what they must be, a line each.
func (t *Table) Breaches() (lines []string) {
	for _, r := range t.rows {
		if r.rule != "" && !r.kept {
			lines = append(lines, fmt.Sprintf("%s: %s, want %s", r.what, r.figure, r.rule))
		}
	}
	return lines
}

// Rules is how many there are.
func (t *Table) Rules() int {
	n := 0
	for _, r := range t.rows {
		if r.rule != "" {
			n++
		}
	}
	return n
}

const figureHead, ruleHead = "figure", "rule"

// Print writes the table with figures right-aligned, the way figures compare.
func (t *Table) Print(w io.Writer) {
	what, figure, rule := 0, len(figureHead), len(ruleHead)
	for _, r := range t.rows {
		what = max(what, utf8.RuneCountInString(r.what))
		figure = max(figure, utf8.RuneCountInString(r.figure))
		rule = max(rule, utf8.RuneCountInString(r.rule))
	}
	fmt.Fprintf(w, "\n%s\n", t.Title)
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
	case Fine:
		return fmt.Sprint(time.Duration(f).Round(100 * time.Microsecond))
	case Percent:
		return fmt.Sprintf("%.1f %%", float64(f))
	case FinePercent:
		return fmt.Sprintf("%.2f %%", float64(f))
	case float64:
		return fmt.Sprintf("%.3f", f)
	}
	return fmt.Sprint(figure)
}

// Percent is a share of a hundred, printed with one digit; FinePercent one of which
// two mean something.
type (
	Percent     float64
	FinePercent float64
)

// Share is what a part is of the whole.
func Share(part, whole float64) Percent { return Percent(100 * part / whole) }

// Fine is a duration of which a tenth of a millisecond means something; others are
// printed in whole ones.
type Fine time.Duration
