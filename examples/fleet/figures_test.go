package main

import (
	"net/http"
	"testing"
	"time"
)

func TestFiguresOfAGoodRun(t *testing.T) {
	t.Parallel()
	f := figure(good())
	if f.Offered != 425 || f.Sent != 425 || f.Refused != 0 || len(f.Probes) != 2 || len(f.Lost) != 0 {
		t.Errorf("%+v", f)
	}
	if f.Quota != 100 || f.Total != 100 || f.Over != 100 || f.Background != 50 {
		t.Errorf("quota %v, total %v, worst window %v, background %v", f.Quota, f.Total, f.Over, f.Background)
	}
	if f.LiveP50 != ms || f.LiveP99 != ms || f.Trips != 300.0/425 {
		t.Errorf("waits %v and %v, %v trips", f.LiveP50, f.LiveP99, f.Trips)
	}
}

// Only windows that are whole count, and only what the vendor took.
func TestQuotaIsOfWholeWindows(t *testing.T) {
	t.Parallel()
	h := &history{plan: plan{Vendor: fixed, Rate: 600, Window: 10 * time.Second, From: 10 * time.Second, For: 35 * time.Second}}
	b := &builder{h}
	for range 50 {
		b.answer(live, 5*time.Second) // to warm up
		b.answer(live, 15*time.Second)
		b.answer(live, 25*time.Second)
		b.answer(live, 31*time.Second)
		b.add(live, 26*time.Second, http.StatusTooManyRequests, refused)
	}
	if got := quota(h); got != 50 {
		t.Errorf("%v %% used, want 50: 100 of 200 in two windows", got)
	}
	h.Tokens = 6000 // 1000 in each window
	for i := range h.Arrivals {
		h.Arrivals[i].Tokens = 15
	}
	if got := quota(h); got != 75 {
		t.Errorf("%v %% of the tokens used, want 75: 1500 of 2000", got)
	}
	h.For = 15 * time.Second
	if got := quota(h); got != 0 {
		t.Errorf("%v %% of no window", got)
	}
}

// A vendor who keeps a log sees two windows' worth in one.
func TestTheWorstWindowIsCountedAsTheVendorCounts(t *testing.T) {
	t.Parallel()
	for a, want := range map[algorithm]float64{fixed: 100, slidingLog: 200, bucket: 195} {
		h := &history{plan: plan{Vendor: a, Rate: 600, Window: 10 * time.Second, For: 20 * time.Second}}
		b := &builder{h}
		for range 100 {
			b.answer(live, 9600*ms)
		}
		for range 100 {
			b.answer(live, 10100*ms)
		}
		if got, when := peak(h, func(arrival) bool { return true }); got < want-0.01 || got > want+0.01 || when < 9*time.Second {
			t.Errorf("%s: %v %% at %v, want %v", a, got, when, want)
		}
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	var d []time.Duration
	for i := range 100 {
		d = append(d, time.Duration(99-i))
	}
	if p50, p99 := quantile(d, 0.5), quantile(d, 0.99); p50 != 50 || p99 != 99 {
		t.Errorf("%v and %v", p50, p99)
	}
	if quantile(nil, 0.5) != 0 {
		t.Error("of nothing there is no quantile")
	}
}

func TestTheControlSeesHowLateItIs(t *testing.T) {
	t.Parallel()
	c := control{late: []lateness{{At: 10 * ms, By: 1 * ms}, {At: 60 * ms, By: 9 * ms}, {At: 210 * ms, By: 2 * ms}}}
	w := c.worth()
	if len(w) != 2 || w[0].By != 9*ms || w[1].By != 2*ms {
		t.Errorf("the worst of each tenth of a second: %v", w)
	}
	if c.mean() != 4*ms || c.most(100*ms) != 2*ms {
		t.Errorf("mean %v, 99th percentile later on %v", c.mean(), c.most(100*ms))
	}
	if noiseWithin(w, 350*ms, 400*ms) != 0 || noiseWithin(w, 250*ms, 260*ms) != 2*ms || noiseWithin(w, 0, 400*ms) != 9*ms {
		t.Error("noise is looked for at another time")
	}
}

func TestRefusalsAfterTheMachineStoodStillAreTold(t *testing.T) {
	t.Parallel()
	h := good()
	(&builder{h}).refused(35*time.Second, http.StatusTooManyRequests, time.Second)
	(&builder{h}).refused(50*time.Second, http.StatusTooManyRequests, time.Second)
	h.Noise = []lateness{{At: 30 * time.Second, By: spare + ms}, {At: 45 * time.Second, By: spare}}
	if n := stumbles(h); n != 1 {
		t.Errorf("%d refusals, want the one within ten seconds", n)
	}
	if n := judge(h).Broken(); n == 0 {
		t.Error("it is excused")
	}
}

// A stall of a second in ten is no rare thing to those who call during it.
func TestAStallCountsForAllWhoComeInIt(t *testing.T) {
	t.Parallel()
	var c control
	for at := time.Duration(0); at < 9*time.Second; at += nap {
		c.late = append(c.late, lateness{At: at})
	}
	c.late = append(c.late, lateness{At: 9 * time.Second, By: time.Second})
	if got := c.most(0); got < 850*ms || got > 950*ms { // a tenth of all come in it, and a hundredth in its first tenth
		t.Errorf("99th percentile %v, want about 900ms", got)
	}
}
