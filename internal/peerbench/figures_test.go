package main

import (
	"math"
	"testing"
)

func TestMedianAndQuantile(t *testing.T) {
	for _, tt := range []struct {
		xs   []float64
		q    float64
		want float64
	}{
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 3, 2}, 0.5, 2.5},
		{[]float64{7}, 0.5, 7},
		{[]float64{7}, 0.99, 7},
		{[]float64{10, 20, 30, 40, 50}, 0.75, 40},
		{[]float64{0, 100}, 0.99, 99},
		{[]float64{5, 1}, 1, 5},
		{[]float64{5, 1}, 0, 1},
	} {
		if got := quantile(tt.xs, tt.q); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("quantile %v of %v is %v, want %v", tt.q, tt.xs, got, tt.want)
		}
	}
	if xs := []float64{3, 1, 2}; median(xs) != 2 || xs[0] != 3 {
		t.Error("the median sorts what it was given")
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}

// Whatever slows a whole round down doesn't count.
func TestARatioIsTakenRoundByRound(t *testing.T) {
	a, b := []float64{20, 2000, 20}, []float64{10, 1000, 40}
	if got := ratio(a, b); got != 2 {
		t.Errorf("the ratio is %v, want 2", got)
	}
	if got := ratio(nil, b); !math.IsNaN(got) {
		t.Errorf("the ratio of nothing is %v", got)
	}
}

func TestABoardComparesTimesAndThroughput(t *testing.T) {
	o := board{slices: map[string][]slice{
		"fast": {{took: 10, allocs: 1, scripts: 0.5}, {took: 12, allocs: 3, scripts: 0.5}, {took: 11, allocs: 2, scripts: 0.25}},
		"slow": {{took: 40}, {took: 48}, {took: 44}},
	}}
	if got := o.faster("fast", "slow"); got != 4 {
		t.Errorf("fast does %v times as much, want 4", got)
	}
	if got := o.slower("fast", "slow"); got != 0.25 {
		t.Errorf("fast takes %v times as long, want 0.25", got)
	}
	if a, s := o.allocs("fast"), o.scripts("fast"); a != 2 || s != 0.5 {
		t.Errorf("%v allocations and %v scripts, want 2 and 0.5", a, s)
	}
}

func TestATallyIsDividedByItsWork(t *testing.T) {
	var sum tally
	sum.add(tally{n: 10, took: 1000, cpu: 500, server: 100, allocs: 20, scripts: scriptStats{5, 50}})
	later := tally{took: 3000, cpu: 1500, server: 300, allocs: 40, scripts: scriptStats{5, 250}}
	sum.add(later.minus(tally{n: -30, took: 1000, cpu: 500, server: 100, allocs: 20, scripts: scriptStats{0, 100}}))
	want := slice{took: 75, cpu: 37.5, server: 7.5, allocs: 1, scripts: 0.25, scriptRun: 20}
	if got := sum.slice(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := (tally{n: 1}).slice().scriptRun; got != 0 {
		t.Errorf("without a script one ran for %v", got)
	}
}

func TestScriptsOfTheServersFigures(t *testing.T) {
	got := parseScriptStats("# Commandstats\r\ncmdstat_evalsha:calls=12,usec=340,usec_per_call=28.33\r\n" +
		"cmdstat_eval:calls=1,usec=60,usec_per_call=60.00\r\ncmdstat_evalsha_ro:calls=7,usec=7\r\ncmdstat_get:calls=99,usec=9\r\n")
	if want := (scriptStats{13, 400}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
