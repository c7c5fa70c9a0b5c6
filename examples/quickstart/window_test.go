package main

import (
	"testing"
	"time"
)

var epoch = time.Unix(1_800_000_000, 0) // a multiple of the tests' windows

func TestWindowCountsThePreviousOneByWhatIsStillInReach(t *testing.T) {
	t.Parallel()
	w := window{amount: 10, per: 10 * time.Second}
	for _, step := range []struct {
		at   time.Duration
		want int // admitted of 20
	}{
		{1 * time.Second, 10},
		{9 * time.Second, 0},
		{10 * time.Second, 0}, // the whole previous window is in reach
		{15 * time.Second, 5}, // half of it
		{16 * time.Second, 1},
		{25 * time.Second, 7}, // half of six: ten less three
		{60 * time.Second, 10},
	} {
		got := 0
		for range 20 {
			if w.admit(epoch.Add(step.at)) {
				got++
			}
		}
		if got != step.want {
			t.Errorf("at %v: %d admitted, want %d", step.at, got, step.want)
		}
	}
}

func TestNextWindowStartsAtAMultiple(t *testing.T) {
	t.Parallel()
	for _, into := range []time.Duration{0, 1, time.Second, 2*time.Second - 1} {
		if got, want := nextWindow(epoch.Add(into), 2*time.Second), epoch.Add(2*time.Second); !got.Equal(want) {
			t.Errorf("%v into a window: %v, want %v", into, got, want)
		}
	}
}

func TestPeakIsTheMostEver(t *testing.T) {
	t.Parallel()
	var in []arrival
	for _, s := range []int{1, 2, 3, 35, 36} {
		in = append(in, arrival{at: epoch.Add(time.Duration(s) * time.Second)})
	}
	if got := peak(in, 10*time.Second, time.Time{}); got != 3 {
		t.Errorf("peak is %v, want 3", got)
	}
	if got := peak(in, 10*time.Second, epoch.Add(4*time.Second)); got != 2 {
		t.Errorf("peak of the later ones is %v, want 2", got)
	}
	if got := peak(nil, time.Second, time.Time{}); got != 0 {
		t.Errorf("peak of nothing is %v", got)
	}
}
