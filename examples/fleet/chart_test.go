package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// A picture is what a chart is made of.
type picture struct {
	texts    []string
	fills    map[string]int // rectangles by colour
	classes  map[string]int
	elements int
}

func parseChart(t *testing.T, svg string) picture {
	t.Helper()
	p := picture{fills: map[string]int{}, classes: map[string]int{}}
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return p
		}
		if err != nil {
			t.Fatalf("the chart isn't well-formed: %v", err)
		}
		switch x := token.(type) {
		case xml.CharData:
			if s := strings.TrimSpace(string(x)); s != "" {
				p.texts = append(p.texts, s)
			}
		case xml.StartElement:
			p.elements++
			for _, a := range x.Attr {
				switch {
				case a.Name.Local == "class":
					p.classes[a.Value]++
				case a.Name.Local == "fill" && x.Name.Local == "rect":
					p.fills[a.Value]++
				case a.Name.Local == "href" || a.Name.Local == "src":
					t.Errorf("the chart needs %s", a.Value)
				}
			}
		}
	}
}

func (p picture) says(what string) bool {
	for _, s := range p.texts {
		if strings.Contains(s, what) {
			return true
		}
	}
	return false
}

func TestTheChartShowsWhatHappened(t *testing.T) {
	t.Parallel()
	h := good()
	h.Title = `a title with <, & and "`
	p := parseChart(t, chart(h))
	for _, want := range []string{
		`A title with <, & and "`, "600 calls a minute, 100 in each 10s, and counts by fixed windows", "calls that reached the vendor, per second",
		"seconds since the start", "live calls", "background calls", "probes of the key", "what the vendor allows",
		"refused by the vendor (4)", "429, and pause", "Redis doesn't answer", "key refused", "process killed", "100.0 % of the quota used",
	} {
		if !p.says(want) {
			t.Errorf("the chart doesn't say %q; it says %q", want, p.texts)
		}
	}
	// One for the legend, and one for each second in which there is such a thing.
	for ink, least := range map[string]int{liveInk: 1 + 40, backInk: 1 + 40, probeInk: 1 + 2, pauseFill: 2, outageFill: 2, revokedFill: 2} {
		if p.fills[ink] < least {
			t.Errorf("%d rectangles of %s, want at least %d", p.fills[ink], ink, least)
		}
	}
	if p.classes["budget"] != 1 || p.classes["refusal"] != 1+4 || p.classes["kill"] != 1+1 {
		t.Errorf("marks: %v, want a budget, 4 refusals and a kill, with the legend's", p.classes)
	}
}

func TestTheLegendNamesNothingThatIsNotThere(t *testing.T) {
	t.Parallel()
	h := good()
	h.Storms, h.Revoked, h.Hangs, h.Kills, h.Arrivals = nil, nil, nil, nil, nil
	(&builder{h}).answer(live, time.Second)
	p := parseChart(t, chart(h))
	for _, not := range []string{"background calls", "probes", "429, and pause", "doesn't answer", "key refused", "killed"} {
		if p.says(not) {
			t.Errorf("the chart says %q", not)
		}
	}
	if !p.says("refused by the vendor (0)") {
		t.Errorf("the chart doesn't say that nothing was refused: %q", p.texts)
	}
}

// Nothing leaves the paper, whatever a run was like.
func TestChartsOfOddRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		harm func(*history)
	}{
		{"nothing came", func(h *history) { h.Arrivals, h.Calls = nil, nil }},
		{"no time passed", func(h *history) { h.For = 0 }},
		{"one second with very much", func(h *history) {
			for range 5000 {
				(&builder{h}).answer(live, 30*time.Second)
			}
		}},
		{"an hour", func(h *history) { h.For = time.Hour }},
	} {
		h := good()
		c.harm(h)
		svg := chart(h)
		if p := parseChart(t, svg); p.elements < 20 {
			t.Errorf("%s: %d elements", c.name, p.elements)
		}
		for _, line := range strings.Split(svg, "\n") {
			var x, y, width, height float64
			if n, _ := fmt.Sscanf(line, `<rect x="%f" y="%f" width="%f" height="%f"`, &x, &y, &width, &height); n != 4 {
				continue
			}
			if x < 0 || y < 0 || width < 0 || height < 0 || x+width > chartWidth+1 || y+height > chartHeight+1 {
				t.Errorf("%s: off the paper: %s", c.name, line)
			}
		}
	}
}

func TestLinesAreAtRoundNumbers(t *testing.T) {
	t.Parallel()
	for top, want := range map[float64]float64{3: 1, 11: 2, 45: 10, 56: 10, 100: 20, 300: 50, 4000: 1000} {
		if got := niceStep(top); got != want {
			t.Errorf("niceStep(%v) is %v, want %v", top, got, want)
		}
	}
}
