package main

import (
	"testing"
	"time"
)

// began is where windows of any length that tests use start.
var began = time.Unix(3600, 0)

func after(s float64) time.Time { return began.Add(time.Duration(s * float64(time.Second))) }

// A trial is one request of a case: when, how many units, and whether it fits.
type trial struct {
	at   float64
	n    float64
	fits bool
}

func TestVendorsCountAsComputedByHand(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		a      algorithm
		amount float64
		trials []trial
	}{
		{"a fixed window starts anew at its boundary", fixed, 3, []trial{
			{8, 2, true}, {9, 1, true}, {9.999, 1, false}, {10, 3, true}, {10.001, 1, false}, {25, 3, true},
		}},
		{"what is too much for a fixed window changes nothing", fixed, 3, []trial{{1, 2, true}, {2, 2, false}, {3, 1, true}}},
		{"a log forgets each request ten seconds after it", slidingLog, 2, []trial{
			{1, 1, true}, {4, 1, true}, {10.999, 1, false}, {11, 1, true}, {13.999, 1, false}, {14, 1, true},
		}},
		// 4 in the window before count 2 in the middle of this one, where two more
		// make it 4; a third has to wait a moment, and a fourth until f > 3/4.
		{"two counters take the last window to be even", twoCounter, 4, []trial{
			{1, 4, true}, {9, 1, false}, {10, 1, false}, {15, 1, true}, {15, 1, true}, {15, 1, false},
			{15.1, 1, true}, {17.4, 1, false}, {17.6, 1, true},
		}},
		{"two counters admit while the estimate is below the amount", twoCounter, 2, []trial{
			{0, 1, true}, {0, 1, true}, {0, 1, false}, {10, 1, false}, {10.1, 1, true}, {20, 1, true}, {20, 1, false},
		}},
		{"two counters forget a window that nobody came in", twoCounter, 2, []trial{{1, 2, true}, {25, 1, true}, {25, 1, true}, {25, 1, false}}},
		// 0.4 a second flow in.
		{"a bucket starts full and fills evenly", bucket, 4, []trial{
			{0, 4, true}, {0, 1, false}, {2.49, 1, false}, {2.5, 1, true}, {4.9, 1, false}, {5, 1, true}, {60, 4, true}, {60, 1, false},
		}},
		// 2 a second, and never more than 2.
		{"a bucket of a second holds no more than that", bucket1s, 20, []trial{
			{0, 2, true}, {0, 1, false}, {0.5, 1, true}, {0.9, 1, false}, {9, 2, true}, {9, 1, false},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			limit := newCounter(c.a, c.amount, 10*time.Second)
			for i, x := range c.trials {
				at := after(x.at)
				if got := limit.fits(at, x.n); got != x.fits {
					t.Fatalf("trial %d, %v at %v s: %v, want %v; used is %v", i, x.n, x.at, got, x.fits, limit.used(at))
				}
				if x.fits {
					limit.add(at, x.n)
				}
			}
		})
	}
}

func TestUseIsSeenBeyondTheAmount(t *testing.T) {
	t.Parallel()
	for a, want := range map[algorithm]float64{fixed: 6, slidingLog: 6, twoCounter: 6, bucket: 6, bucket1s: 6} {
		c := newCounter(a, 4, time.Second)
		c.add(after(0), 6)
		if got := c.used(after(0)); got != want || c.size() != 4 {
			t.Errorf("%s: %v of %v used, want %v of 4", a, got, c.size(), want)
		}
	}
	c := newCounter(twoCounter, 4, 10*time.Second)
	c.add(after(0), 4)
	if got := c.used(after(12.5)); got != 3 {
		t.Errorf("two counters, a quarter into the next window: %v used, want 3", got)
	}
	b := newCounter(bucket, 4, 10*time.Second)
	b.add(after(0), 6)
	if got := b.used(after(5)); got != 4 {
		t.Errorf("a bucket that 6 were taken of, 5 s later: %v used, want 4", got)
	}
}
