package leasing_test

import (
	"math"
	"testing"
	"time"

	"github.com/headgate-go/headgate/leasing"
)

func TestAgeIsATenthOfTheShortestWindowAndAtMostASecond(t *testing.T) {
	for _, tt := range []struct {
		max, per, want time.Duration
	}{
		{0, time.Hour, time.Second},
		{0, 10 * time.Second, time.Second},
		{0, 2 * time.Second, 200 * time.Millisecond},
		{0, 0, time.Second}, // no window
		{5 * time.Second, time.Minute, 5 * time.Second},
		{5 * time.Second, time.Second, time.Second}, // never longer than the window
		{5 * time.Second, 0, 5 * time.Second},
	} {
		p := leasing.Policy{Chunk: 10, MaxAge: tt.max}
		if got := p.Age(tt.per); got != tt.want {
			t.Errorf("MaxAge %v, window %v: age %v, want %v", tt.max, tt.per, got, tt.want)
		}
	}
}

func TestAutoLeavesShortWindowsAlone(t *testing.T) {
	chunk := leasing.Policy{Chunk: 10}
	for _, tt := range []struct {
		p    leasing.Policy
		per  time.Duration
		want bool
	}{
		{leasing.Policy{}, time.Hour, false},
		{leasing.Auto(), 10*time.Second - 1, false},
		{leasing.Auto(), 10 * time.Second, true},
		{leasing.Auto(), 0, true},
		{chunk, time.Millisecond, true},
	} {
		if got := tt.p.Fits(tt.per); got != tt.want {
			t.Errorf("%+v fits a window of %v: %v", tt.p, tt.per, got)
		}
	}
}

func TestAutoLeasesWhatIsDemandedWithinAHundredthOfEachAmount(t *testing.T) {
	for _, tt := range []struct {
		name          string
		demand        float64
		amounts, cost []float64
		live          int
		want          float64
	}{
		{"the demand", 7.2, []float64{10_000}, []float64{1}, 1, 8},
		{"a hundredth", 1000, []float64{10_000}, []float64{1}, 1, 100},
		{"shared by four", 1000, []float64{10_000}, []float64{1}, 4, 25},
		{"the scarcest limit", 1000, []float64{10_000, 50_000}, []float64{1, 100}, 1, 5},
		{"one that calls don't count towards", 1000, []float64{10_000, 1}, []float64{1, 0}, 1, 100},
		{"one call can ask for itself", 1, []float64{10_000}, []float64{1}, 1, 0},
		{"an amount too small to share", 1000, []float64{100}, []float64{1}, 1, 0},
		{"a fleet too large", 1000, []float64{10_000}, []float64{1}, 100, 0},
		{"a fleet that nobody could count", 1000, []float64{10_000}, []float64{1}, 0, 100},
		{"no limits", 12, nil, nil, 3, 12},
	} {
		if got := leasing.Auto().Calls(tt.demand, tt.amounts, make([]float64, len(tt.cost)), tt.cost, tt.live); got != tt.want {
			t.Errorf("%s: %v calls, want %v", tt.name, got, tt.want)
		}
	}
	if got := leasing.Auto().Calls(1000, []float64{10_000}, []float64{70}, []float64{3}, 1); got != 10 {
		t.Errorf("with 70 of 100 leased already: %v calls of three units, want 10", got)
	}
	if got := (leasing.Policy{Chunk: 10}).Calls(1000, []float64{5}, []float64{5}, []float64{1}, 9); got != 10 {
		t.Errorf("a fixed chunk is %v calls, want 10", got)
	}
}

func TestDemandIsTheRateOfTheLastTwoSlots(t *testing.T) {
	var d leasing.Demand
	start := time.Unix(1000, 0)
	if got := d.Calls(start, time.Second); got != 0 {
		t.Errorf("a demand that has seen nothing expects %v", got)
	}
	d = leasing.Demand{}
	for i := range 100 { // 100 a second
		d.Note(start.Add(time.Duration(i)*10*time.Millisecond), []float64{1})
	}
	now := start.Add(990 * time.Millisecond)
	if got := d.Calls(now, 200*time.Millisecond); math.Abs(got-20) > 2 {
		t.Errorf("%v calls are expected in 200 ms at 100 a second", got)
	}
	if got := d.Calls(now.Add(time.Minute), 200*time.Millisecond); got != 0 {
		t.Errorf("%v calls are expected after a minute of none", got)
	}
}

func TestDemandKnowsABurstBeforeItsFirstSlotHasPassed(t *testing.T) {
	var d leasing.Demand
	start := time.Unix(1000, 0)
	for range 30 {
		d.Note(start, []float64{1})
	}
	if got := d.Calls(start, 200*time.Millisecond); got != 30 {
		t.Errorf("%v calls are expected after a burst of 30", got)
	}
}

func TestMeanFollowsTheCostAndIsRoundedUp(t *testing.T) {
	var d leasing.Demand
	if len(d.Mean()) != 0 {
		t.Errorf("a demand that has seen nothing has the mean %v", d.Mean())
	}
	now := time.Unix(1000, 0)
	cost := []float64{1, 100}
	d.Note(now, cost)
	cost[1] = 900 // the slice is the caller's
	if m := d.Mean(); m[0] != 1 || m[1] != 100 {
		t.Errorf("the mean of one call is %v", m)
	}
	d.Note(now, []float64{1, 101})
	if m := d.Mean(); m[1] != 101 {
		t.Errorf("the mean is %v, want 100.125 rounded up", m)
	}
	for range 100 {
		d.Note(now, []float64{1, 500})
	}
	if m := d.Mean(); m[1] < 490 || m[1] > 500 {
		t.Errorf("the mean of a hundred calls of 500 is %v", m)
	}
}
