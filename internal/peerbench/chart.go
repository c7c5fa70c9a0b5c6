package main

import (
	"fmt"
	"math"
)

// Sizes of the chart, in pixels.
const (
	chartWide = 1080
	margin    = 36
	rowHigh   = 21
	panelGap  = 28
)

// Colours, for a light ground.
const (
	ground  = "#ffffff"
	ink     = "#1f2933"
	faint   = "#7b8794"
	grid    = "#e4e7eb"
	ours    = "#2563eb"
	theirs  = "#b8c1cc"
	goodInk = "#15803d"
	badInk  = "#c2410c"
)

// draw draws what was measured: how fast the contestants were, then how far
// each goal is from its bound.
func draw(b *bench) []byte {
	s := &svg{}
	y := 56.0
	s.text(margin, y, 22, ink, "bold", "start", "headgate and its peers")
	s.text(margin, y+22, 13, faint, "normal", "start",
		fmt.Sprintf("Medians of %d rounds of one run, in which all took turns on one machine. Longer bars are faster.", b.rounds))
	y += 60
	for _, row := range []struct{ title, part, unit string }{
		{"Decided in Redis, no leases: calls per second against redis_rate", "shared", "redis_rate"},
		{"Decided on leases: calls per second against x/time/rate", "leased", "x/time/rate"},
	} {
		if boards := b.boardsOf(row.part); len(boards) > 0 {
			s.text(margin, y, 15, ink, "bold", "start", row.title)
			y = s.panels(boards, row.unit, y+14) + 30
		}
	}
	s.text(margin, y, 15, ink, "bold", "start", fmt.Sprintf("Goals: %d of %d are met", len(b.goals)-unmet(b.goals), len(b.goals)))
	y = s.goals(b.goals, y+14)
	return s.close(y + margin)
}

// boardsOf are the contests of a part, by the number of callers.
func (b *bench) boardsOf(part string) (boards []board) {
	for _, o := range b.boards {
		if len(o.name) > len(part) && o.name[:len(part)] == part && o.name[len(part)] == ',' {
			boards = append(boards, o)
		}
	}
	return boards
}

// panels draws contests side by side, and returns where they end.
func (s *svg) panels(boards []board, unit string, y float64) float64 {
	wide := (chartWide - 2*margin - panelGap*float64(len(boards)-1)) / float64(len(boards))
	end := y
	for i, o := range boards {
		x := margin + float64(i)*(wide+panelGap)
		s.text(x, y+14, 12, faint, "normal", "start", callers(o.workers))
		end = max(end, s.bars(o, unit, x, y+24, wide))
	}
	return end
}

func callers(n int) string {
	if n == 1 {
		return "1 caller"
	}
	return fmt.Sprintf("%d callers", n)
}

// bars draws a contest, each bar as long as its contestant is fast.
func (s *svg) bars(o board, unit string, x, y, wide float64) float64 {
	const names, figures = 128, 48
	room, most := wide-names-figures, 0.0
	for _, c := range o.of {
		most = max(most, o.faster(c.name, unit))
	}
	for _, c := range o.of {
		times, colour, weight := o.faster(c.name, unit), theirs, "normal"
		if c.name == alone || c.name == spread {
			colour, weight = ours, "bold"
		}
		long := max(1.5, room*times/most)
		s.text(x+names-6, y+13, 11.5, ink, weight, "end", c.name)
		s.rect(x+names, y+3, long, rowHigh-8, colour)
		s.text(x+names+long+5, y+13, 11.5, ink, weight, "start", figure(round(times))+"×")
		y += rowHigh
	}
	return y
}

// round keeps three digits at most.
func round(x float64) float64 {
	if x >= 10 || x == 0 {
		return math.Round(x)
	}
	digits := math.Pow(10, 1-math.Floor(math.Log10(x)))
	return math.Round(x*digits) / digits
}
