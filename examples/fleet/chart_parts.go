package main

import (
	"fmt"
	"time"
)

func (d *drawing) heading() {
	h := d.h
	title := h.Title
	if title != "" {
		title = string(title[0]-'a'+'A') + title[1:]
		if h.Title[0] < 'a' || h.Title[0] > 'z' {
			title = h.Title
		}
	}
	d.printf(`<text x="%d" y="36" fill="%s" font-size="21" font-weight="bold">%s</text>`+"\n", plotLeft, inkDark, escapeText(title))
	d.text(plotLeft, 60, "start", inkSoft, 14, fmt.Sprintf(
		"%d processes share one budget in Redis. The vendor allows %d calls a minute, %d in each %v, and counts by %s.",
		h.Processes, h.Rate, h.amount(), h.Window, counting[h.Vendor]))
}

// bands are the times in which something was wrong, behind all the rest.
func (d *drawing) bands() {
	for _, s := range d.h.Revoked {
		d.band(s, revokedFill)
	}
	for _, s := range d.pauses() {
		d.band(s, pauseFill)
	}
	for _, s := range d.h.Hangs {
		d.band(s, outageFill)
	}
}

// pauses are the storms until the end of the pause that the fleet was told.
func (d *drawing) pauses() []span {
	var all []span
	for i, s := range stops(d.h) {
		p := d.h.Storms[i]
		if s.Told > 0 {
			p.To = max(p.To, s.End)
		}
		all = append(all, p)
	}
	return all
}

func (d *drawing) band(s span, fill string) {
	from, to := d.x(s.From), d.x(s.To)
	d.rect(from, plotTop, max(1, to-from), plotBottom-plotTop, fill, ` fill-opacity="0.75"`)
}

func (d *drawing) axes() {
	for v := 0.0; v <= d.top+d.step/2; v += d.step {
		d.line(plotLeft, d.y(v), plotRight, d.y(v), gridInk, "")
		d.text(plotLeft-8, d.y(v)+4, "end", inkSoft, 13, fmt.Sprintf("%g", v))
	}
	step := time.Duration(niceStep(d.length*0.6)) * time.Second
	for at := time.Duration(0); at.Seconds() <= d.length; at += step {
		d.line(d.x(at), plotBottom, d.x(at), plotBottom+5, inkSoft, "")
		d.text(d.x(at), plotBottom+20, "middle", inkSoft, 13, fmt.Sprintf("%g", at.Seconds()))
	}
	d.line(plotLeft, plotBottom, plotRight, plotBottom, inkSoft, "")
	d.text((plotLeft+plotRight)/2, plotBottom+42, "middle", inkDark, 14, "seconds since the start")
	middle := float64(plotTop+plotBottom) / 2
	d.printf(`<text transform="translate(22 %.1f) rotate(-90)" text-anchor="middle" fill="%s" font-size="14">calls that reached the vendor, per second</text>`+"\n", middle, inkDark)
}

func (d *drawing) bars() {
	wide := float64(plotRight-plotLeft) / float64(len(d.seconds))
	gap := min(2, wide/5)
	for i, s := range d.seconds {
		below := 0
		for _, part := range []struct {
			n   int
			ink string
		}{{s.live, liveInk}, {s.background, backInk}, {s.probes, probeInk}} {
			if part.n > 0 {
				low, high := d.y(float64(below)), d.y(float64(below+part.n))
				d.rect(plotLeft+float64(i)*wide+gap/2, high, wide-gap, low-high, part.ink, "")
				below += part.n
			}
		}
	}
}

// budget is the line of what the vendor allows a second, over a long time.
func (d *drawing) budget() {
	y := d.y(d.h.perSecond())
	d.line(plotLeft, y, plotRight, y, budgetInk, ` stroke-width="2" stroke-dasharray="7 5" class="budget"`)
}

// marks are a cross over each second with refusals, and how many, and a
// triangle at the top where processes were killed.
func (d *drawing) marks() {
	wide := float64(plotRight-plotLeft) / float64(len(d.seconds))
	for i, s := range d.seconds {
		if s.refused == 0 {
			continue
		}
		x, y := plotLeft+(float64(i)+0.5)*wide, d.y(float64(s.height()))-9
		d.cross(x, y)
		if s.refused > 1 {
			d.text(x, y-8, "middle", refusalInk, 12, fmt.Sprint(s.refused))
		}
	}
	for _, k := range d.killed() {
		d.triangle(d.x(k.at), plotTop-6)
		if k.n > 1 {
			d.text(d.x(k.at)+9, plotTop-7, "start", inkDark, 12, fmt.Sprintf("%d killed", k.n))
		}
	}
}

// A massacre is how many processes were killed at about one time.
type massacre struct {
	at time.Duration
	n  int
}

func (d *drawing) killed() []massacre {
	var all []massacre
	for _, k := range d.h.Kills {
		if n := len(all); n > 0 && k.At-all[n-1].at < time.Second {
			all[n-1].n++
			continue
		}
		all = append(all, massacre{k.At, 1})
	}
	return all
}

func (d *drawing) cross(x, y float64) {
	d.printf(`<path class="refusal" d="M%.1f %.1fl8 8m0 -8l-8 8" stroke="%s" stroke-width="2.4" fill="none"/>`+"\n", x-4, y-4, refusalInk)
}

func (d *drawing) triangle(x, y float64) {
	d.printf(`<path class="kill" d="M%.1f %.1fl-6 -10h12z" fill="%s"/>`+"\n", x, y, inkDark)
}

// legend names what the chart has, and nothing else.
func (d *drawing) legend() {
	h, x := d.h, float64(plotLeft)
	y := 84.0
	entry := func(there bool, what string, draw func()) {
		if !there {
			return
		}
		wide := 42 + 6.6*float64(len(what))
		if x+wide > plotRight {
			x, y = plotLeft, y+22
		}
		draw()
		d.text(x+22, y+5, "start", inkDark, 13, what)
		x += wide
	}
	box := func(fill string) func() {
		return func() { d.rect(x, y-7, 15, 14, fill, fmt.Sprintf(` stroke="%s" stroke-width="0.5"`, inkSoft)) }
	}
	var all second
	for _, s := range d.seconds {
		all.live += s.live
		all.background += s.background
		all.probes += s.probes
		all.refused += s.refused
	}
	entry(true, "live calls", box(liveInk))
	entry(all.background > 0, "background calls", box(backInk))
	entry(all.probes > 0, "probes of the key", box(probeInk))
	entry(true, "what the vendor allows", func() {
		d.line(x-3, y, x+17, y, budgetInk, ` stroke-width="2" stroke-dasharray="7 5"`)
	})
	entry(true, fmt.Sprintf("refused by the vendor (%d)", all.refused), func() { d.cross(x+8, y) })
	entry(len(h.Storms) > 0, "429, and pause", box(pauseFill))
	entry(len(h.Hangs) > 0, "Redis doesn't answer", box(outageFill))
	entry(len(h.Revoked) > 0, "key refused", box(revokedFill))
	entry(len(h.Kills) > 0, "process killed", func() { d.triangle(x+8, y+6) })
}

// footer is what the run comes to.
func (d *drawing) footer() {
	f := figure(d.h)
	d.text(plotLeft, chartHeight-18, "start", inkSoft, 13, fmt.Sprintf(
		"%d calls offered, %d sent, %d denied before they cost anything, %d refused for want of room; %.1f %% of the quota used; worst window %.1f %%; %d lost",
		f.Offered, f.Sent, f.Denied, f.Refused, f.Quota, f.Over, len(f.Lost)))
}
