package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func TestTheChartIsWellFormedAndSaysEverything(t *testing.T) {
	b := sample()
	b.atMost("trips", "nothing at all", 0, 0, "", "")
	b.atMost("trips", "not a number", math.NaN(), 1, "", "")
	drawn := draw(b)
	d, texts, elements := xml.NewDecoder(bytes.NewReader(drawn)), "", map[string]int{}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, drawn)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			elements[tok.Name.Local]++
			for _, a := range tok.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("%s of a %s is %q", a.Name.Local, tok.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			texts += string(tok)
		}
	}
	for _, want := range []string{"redis_rate", alone, "64 callers", "too slow & <large>", "fast enough", "not a number", "2 of 4 are met", "0.25×", "≤ 1.15x", "≥ 4x"} {
		if !strings.Contains(texts, want) {
			t.Errorf("the chart doesn't say %q", want)
		}
	}
	if elements["svg"] != 1 || elements["circle"] != len(b.goals) {
		t.Errorf("drawn were %v, want a point for each of %d goals", elements, len(b.goals))
	}
}

// A goal that is met lies to the right of the middle, one that isn't to the left.
func TestWhereAGoalLies(t *testing.T) {
	for _, tt := range []struct {
		g    goal
		want float64
	}{
		{goal{figure: 1, bound: 2}, 2},
		{goal{figure: 2, bound: 1}, 0.5},
		{goal{figure: 0, bound: 0}, furthest},
		{goal{figure: -3, bound: 5}, furthest},
		{goal{figure: math.NaN(), bound: 5}, 1 / furthest},
	} {
		if got := share(tt.g); got != tt.want {
			t.Errorf("%+v lies at %v, want %v", tt.g, got, tt.want)
		}
	}
}
