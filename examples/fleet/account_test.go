package main

import (
	"net/http"
	"testing"
	"time"
)

func testAccount(a algorithm, lenient bool) *account {
	acc := newAccount(plan{Vendor: a, Rate: 60, Window: 2 * time.Second, Lenient: lenient}, "sk-1")
	acc.begin(began, 2*time.Second)
	return acc
}

// send has a request arrive, and returns the answer's status.
func send(a *account, at time.Duration, tokens float64, key string) (int, *parcel) {
	p := &parcel{origin: origin{lane: live, sent: began.Add(at)}, arrives: began.Add(at), tokens: tokens, key: key}
	a.judge(p)
	return p.verdict.status, p
}

func statuses(a *account, key string, tokens float64, at ...time.Duration) []int {
	var got []int
	for _, d := range at {
		s, _ := send(a, d, tokens, key)
		got = append(got, s)
	}
	return got
}

func equal(a []int, b ...int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestTheVendorsWindowsStartWithTheRun(t *testing.T) {
	t.Parallel()
	a := testAccount(fixed, false)
	got := statuses(a, "sk-1", 1, 0, 0, 0, 1999*time.Millisecond, 2*time.Second, 2*time.Second, 2*time.Second)
	if !equal(got, 200, 200, 429, 429, 200, 200, 429) {
		t.Errorf("two in each window: %v", got)
	}
	if a.clock < ahead {
		t.Errorf("the vendor's clock is %v before ours, want at least %v", a.clock, ahead)
	}
}

func TestTokensAreLimitedToo(t *testing.T) {
	t.Parallel()
	a := newAccount(plan{Vendor: fixed, Rate: 600, Tokens: 3000, Window: time.Second}, "sk-1")
	a.begin(began, time.Second)
	if got := statuses(a, "sk-1", 25, 0, 0, 0, time.Second); !equal(got, 200, 200, 429, 200) {
		t.Errorf("50 tokens in a second, 25 each: %v", got)
	}
}

func TestALenientVendorCountsAndRefusesLate(t *testing.T) {
	t.Parallel()
	a := testAccount(fixed, true)
	var at []time.Duration
	for range lenient*2 + 1 {
		at = append(at, 0)
	}
	got := statuses(a, "sk-1", 1, at...)
	for i, s := range got {
		if want := i < lenient*2; (s == http.StatusOK) != want {
			t.Errorf("request %d: %d", i, s)
		}
	}
}

func TestAStormRefusesAllAndSaysForHowLong(t *testing.T) {
	t.Parallel()
	a := testAccount(fixed, false)
	a.storm(stretch{began.Add(time.Second), began.Add(4 * time.Second)})
	if s, _ := send(a, 999*time.Millisecond, 1, "sk-1"); s != http.StatusOK {
		t.Errorf("before the storm: %d", s)
	}
	s, p := send(a, 1500*time.Millisecond, 1, "sk-1")
	if s != http.StatusTooManyRequests || p.verdict.after != 2500*time.Millisecond || !a.log[1].Storm {
		t.Errorf("in the storm: %d, %+v", s, a.log[1])
	}
	if s, _ := send(a, 4*time.Second, 1, "sk-1"); s != http.StatusOK {
		t.Errorf("after the storm: %d", s)
	}
}

func TestAProbeIsWhatComesAfterTheNews(t *testing.T) {
	t.Parallel()
	a := testAccount(bucket, true)
	probing := -1
	a.atNextProbe(func(process int) { probing = process })
	a.revoke(stretch{began.Add(time.Second), began.Add(time.Minute)})
	_, first := send(a, 1100*time.Millisecond, 1, "sk-1")
	send(a, 1150*time.Millisecond, 1, "sk-1") // nobody was told
	a.tell(first.verdict, began.Add(1200*time.Millisecond))
	send(a, 1250*time.Millisecond, 1, "sk-1") // the news is on its way
	if probing != -1 {
		t.Error("taken for a probe before anybody could know")
	}
	send(a, 1400*time.Millisecond, 1, "sk-1")
	for i, want := range []bool{false, false, false, true} {
		if a.log[i].Probe != want || a.log[i].Status != http.StatusUnauthorized {
			t.Errorf("request %d: %+v, want probe %v", i, a.log[i], want)
		}
	}
	if probing != 0 {
		t.Error("nobody was told of the probe")
	}
	if s, _ := send(a, time.Minute, 1, "sk-2"); s != http.StatusUnauthorized {
		t.Errorf("another key: %d", s)
	}
}
