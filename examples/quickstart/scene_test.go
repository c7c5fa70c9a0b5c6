package main

import (
	"testing"
	"time"
)

func TestPairsInTheWrongOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		since []int // ms, in the order of arrival
		want  percent
	}{
		{"none at all", nil, 0},
		{"in order", []int{0, 100, 200}, 0},
		{"a little early", []int{50, 0, 200}, 0},
		{"the last came first", []int{200, 0, 100}, share(2, 3)},
		{"backwards", []int{200, 100, 0}, 100},
	} {
		var in []arrival
		for _, ms := range c.since {
			in = append(in, arrival{origin: origin{since: epoch.Add(time.Duration(ms) * time.Millisecond)}})
		}
		if got := wrongWay(in, 50*time.Millisecond); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
