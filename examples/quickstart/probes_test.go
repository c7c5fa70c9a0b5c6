package main

import (
	"testing"
	"time"
)

func TestProbesArePutIntoTheirInterval(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		at   []time.Duration
		want string
	}{
		{"one each, a little late", []time.Duration{0, 1004 * ms, 2010 * ms, 3019 * ms}, "1 1 1"},
		{"under way at the refusal", []time.Duration{0, 5 * ms, 99 * ms, 1001 * ms, 2002 * ms, 3003 * ms}, "1 1 1"},
		{"before the interval is over", []time.Duration{0, 500 * ms, 1001 * ms, 2002 * ms, 3003 * ms}, "2 1 1"},
		{"none in the second", []time.Duration{0, 1001 * ms, 3003 * ms}, "1 0 1"},
	} {
		var in []arrival
		for _, at := range c.at {
			in = append(in, arrival{at: epoch.Add(at)})
		}
		if got := spaced(perInterval(in, epoch, time.Second, 3)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
