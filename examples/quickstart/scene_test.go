package main

import (
	"testing"
	"time"

	"github.com/headgate-go/headgate/examples/internal/findings"
)

func TestPairsInTheWrongOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		since []int // ms, in the order of arrival
		want  findings.Percent
	}{
		{"none at all", nil, 0},
		{"in order", []int{0, 100, 200}, 0},
		{"a little early", []int{50, 0, 200}, 0},
		{"the last came first", []int{200, 0, 100}, findings.Share(2, 3)},
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

func TestLongestGapCountsBothEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at   []int // seconds
		want time.Duration
	}{
		{nil, 10 * time.Second},
		{[]int{-5, 6, 7, 20}, 6 * time.Second},
		{[]int{1, 2, 6, 9}, 4 * time.Second},
		{[]int{1, 2, 3}, 7 * time.Second},
	} {
		var in []arrival
		for _, s := range c.at {
			in = append(in, arrival{at: epoch.Add(time.Duration(s) * time.Second)})
		}
		if got := longestGap(in, epoch, epoch.Add(10*time.Second)); got != c.want {
			t.Errorf("%v: %v, want %v", c.at, got, c.want)
		}
	}
}
