package main

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

// A chart's measures, in pixels.
const (
	chartWidth  = 1200
	chartHeight = 560
	plotLeft    = 76
	plotRight   = chartWidth - 28
	plotTop     = 140
	plotBottom  = chartHeight - 96
)

// Colours that differ in lightness, too.
const (
	inkDark      = "#1f2937"
	inkSoft      = "#6b7280"
	gridInk      = "#e5e7eb"
	liveInk      = "#1d4ed8"
	backInk      = "#7dd3c0"
	probeInk     = "#9333ea"
	refusalInk   = "#dc2626"
	budgetInk    = "#b45309"
	pauseFill    = "#fde68a"
	outageFill   = "#cbd5e1"
	revokedFill  = "#e9d5ff"
	chartLetters = "Helvetica, Arial, sans-serif"
)

// A second is one bar of a chart.
type second struct{ live, background, probes, refused int }

func (s second) height() int { return s.live + s.background + s.probes }

// chart draws a history: calls that reached the vendor, second by second, and
// what happened meanwhile. It is SVG that needs nothing from elsewhere.
func chart(h *history) string {
	seconds := bySecond(h)
	d := &drawing{h: h, seconds: seconds, length: max(1, h.For.Seconds())}
	for _, s := range seconds {
		d.top = max(d.top, float64(s.height()))
	}
	d.step = niceStep(max(d.top, h.perSecond()) * 1.12)
	d.top = math.Ceil(max(d.top, h.perSecond())*1.12/d.step) * d.step

	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="%s" role="img">`+"\n",
		chartWidth, chartHeight, chartWidth, chartHeight, chartLetters)
	d.printf("<title>%s</title>\n", escapeText(h.Title))
	d.rect(0, 0, chartWidth, chartHeight, "#ffffff", "")
	d.heading()
	d.bands()
	d.axes()
	d.bars()
	d.budget()
	d.marks()
	d.legend()
	d.footer()
	d.printf("</svg>\n")
	return d.String()
}

func bySecond(h *history) []second {
	seconds := make([]second, max(1, int(math.Ceil(h.For.Seconds()))))
	for _, in := range h.Arrivals {
		if in.At < 0 || in.At >= h.For {
			continue // of those who waited at the end
		}
		s := &seconds[in.At/time.Second]
		switch {
		case in.Probe:
			s.probes++
		case in.Lane == background:
			s.background++
		default:
			s.live++
		}
		if in.Status != http.StatusOK {
			s.refused++
		}
	}
	return seconds
}

// niceStep is a distance of about five lines up to top that people count in.
func niceStep(top float64) float64 {
	for unit := 1.0; ; unit *= 10 {
		for _, n := range []float64{1, 2, 5} {
			if top/(n*unit) <= 6 {
				return n * unit
			}
		}
	}
}

// A drawing is a chart in the making.
type drawing struct {
	strings.Builder
	h         *history
	seconds   []second
	length    float64 // of the run, in seconds
	top, step float64 // of the vertical axis
}

func (d *drawing) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

// x and y are where a time and a number of calls are.
func (d *drawing) x(at time.Duration) float64 {
	return plotLeft + (plotRight-plotLeft)*min(1, max(0, at.Seconds()/d.length))
}

func (d *drawing) y(calls float64) float64 {
	return plotBottom - (plotBottom-plotTop)*calls/d.top
}

func (d *drawing) rect(x, y, width, height float64, fill, more string) {
	d.printf(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"%s/>`+"\n", x, y, width, height, fill, more)
}

func (d *drawing) line(x1, y1, x2, y2 float64, ink, more string) {
	d.printf(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s"%s/>`+"\n", x1, y1, x2, y2, ink, more)
}

// text writes at x and y; anchor is start, middle or end.
func (d *drawing) text(x, y float64, anchor, ink string, size int, what string) {
	d.printf(`<text x="%.1f" y="%.1f" text-anchor="%s" fill="%s" font-size="%d">%s</text>`+"\n", x, y, anchor, ink, size, escapeText(what))
}

func escapeText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}
