package main

import "math"

// furthest is the factor to either side of its bound at which a goal's point
// stays at the edge.
const furthest = 100.0

// goals draws a line for each goal: how often its figure is as good as its
// bound, to the right of the middle where it is met. The axis is logarithmic.
func (s *svg) goals(goals []goal, y float64) float64 {
	const labels, figures = 470.0, 170.0
	left, right := margin+labels, float64(chartWide)-margin-figures
	middle := (left + right) / 2
	at := func(share float64) float64 {
		share = min(max(share, 1/furthest), furthest)
		return middle + (right-left)/2*math.Log(share)/math.Log(furthest)
	}
	high := float64(len(goals)) * rowHigh
	for _, tick := range []struct {
		share float64
		text  string
	}{{1 / furthest, "1/100"}, {0.1, "1/10"}, {1, "bound"}, {10, "10×"}, {furthest, "100×"}} {
		colour := grid
		if tick.share == 1 {
			colour = faint
		}
		s.line(at(tick.share), y+18, at(tick.share), y+22+high, colour)
		s.text(at(tick.share), y+12, 11, faint, "normal", "middle", tick.text)
	}
	y += 22
	part := ""
	for _, g := range goals {
		if g.part != part {
			part = g.part
			s.line(margin, y, chartWide-margin, y, grid)
			s.text(margin, y+14, 11.5, faint, "bold", "start", part)
		}
		s.goal(g, y, middle, at(share(g)), left, right)
		y += rowHigh
	}
	return y
}

// share is how far a goal is from its bound, as far as the axis can show it.
func share(g goal) float64 {
	x := g.share()
	switch {
	case g.met() && !(x >= 1): // nothing at all, say, where a little was allowed
		return furthest
	case math.IsNaN(x):
		return 1 / furthest
	}
	return x
}

func (s *svg) goal(g goal, y, middle, point, left, right float64) {
	colour, sign := badInk, "≤"
	if g.met() {
		colour = goodInk
	}
	if g.least {
		sign = "≥"
	}
	s.text(margin+68, y+14, 11.5, ink, "normal", "start", shorten(g.what, 64))
	s.rect(min(middle, point), y+rowHigh/2-1.5, math.Abs(point-middle), 3, colour)
	s.dot(point, y+rowHigh/2, 4.5, colour)
	s.text(right+64, y+14, 11.5, colour, "bold", "end", withUnit(roundFar(g.figure), g.unit))
	s.text(right+74, y+14, 11.5, faint, "normal", "start", sign+" "+withUnit(g.bound, g.unit))
}

// roundFar is round for figures of either sign.
func roundFar(x float64) float64 {
	if x < 0 {
		return -round(-x)
	}
	return round(x)
}

// shorten cuts a text to so many characters.
func shorten(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
