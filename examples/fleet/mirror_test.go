package main

import (
	"testing"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

func TestBudgetsMirrorTheVendor(t *testing.T) {
	t.Parallel()
	const window = 10 * time.Second
	for _, c := range []struct {
		a    algorithm
		rate int
		want throttle.Limit // of requests; the offset is that of windows that start 4 s after ours
	}{
		{fixed, 600, throttle.Limit{Amount: 100, Per: window, Algorithm: throttle.FixedWindow, Offset: 4 * time.Second}},
		{slidingLog, 600, throttle.Limit{Amount: 100, Per: window + 70*time.Millisecond, Algorithm: throttle.SlidingLog}},
		// 50 ms earlier. In those 0.5 requests are allowed; below 100.5 there are 100.
		{twoCounter, 600, throttle.Limit{Amount: 100, Per: window, Algorithm: throttle.SlidingWindow, Offset: 3950 * time.Millisecond}},
		// 5 requests: below 996 there are 995.
		{twoCounter, 6000, throttle.Limit{Amount: 995, Per: window, Algorithm: throttle.SlidingWindow, Offset: 3950 * time.Millisecond}},
		// 1 request flows in during 100 ms.
		{bucket, 600, throttle.Limit{Amount: 100, Per: window, Algorithm: throttle.TokenBucket, Burst: 99}},
		{bucket1s, 600, throttle.Limit{Amount: 100, Per: window, Algorithm: throttle.TokenBucket, Burst: 9}},
		// One request each 1.03 s.
		{bucket1s, 60, throttle.Limit{Amount: 10, Per: 10300 * time.Millisecond, Algorithm: throttle.TokenBucket, Burst: 1}},
	} {
		p := plan{Vendor: c.a, Rate: c.rate, Window: window}
		if got := mirror(p, 4*time.Second)[0]; got != c.want {
			t.Errorf("%s at %d: %+v, want %+v", c.a, c.rate, got, c.want)
		}
	}
}

func TestTokensAreMirroredForTheDearestCall(t *testing.T) {
	t.Parallel()
	p := plan{Vendor: bucket1s, Rate: 60, Tokens: 60 * maxTokens, Window: 10 * time.Second}
	got := mirror(p, 0)[1]
	want := throttle.Limit{Unit: throttle.UnitTokens, Amount: 10 * maxTokens, Per: 10300 * time.Millisecond, Algorithm: throttle.TokenBucket, Burst: maxTokens}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A window that starts before ours starts later in the one before.
func TestOffsetsAreWithinAWindow(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]time.Duration{
		{0, 0}, {-50 * time.Millisecond, 9950 * time.Millisecond}, {25 * time.Second, 5 * time.Second}, {10 * time.Second, 0},
	} {
		if got := into(c[0], 10*time.Second); got != c[1] {
			t.Errorf("into(%v) is %v, want %v", c[0], got, c[1])
		}
	}
}
