package main

import (
	"strings"
	"testing"
	"time"
)

func TestMessagesArePacedAndFewAreInFlight(t *testing.T) {
	var out strings.Builder
	broken, err := run(t.Context(), &out)
	if broken != 0 || err != nil {
		t.Errorf("%d rules are broken, %v:\n%s", broken, err, &out)
	}
	for _, shown := range []string{"gap between messages", "at most 10  ok"} {
		if !strings.Contains(out.String(), shown) {
			t.Errorf("%q isn't shown:\n%s", shown, &out)
		}
	}
}

// A burst must not pass for a pace.
func TestBurstBreaksTheRules(t *testing.T) {
	start := time.Now()
	var arrived []time.Time
	for i := range messages {
		arrived = append(arrived, start.Add(time.Duration(i)*time.Millisecond))
	}
	r := newReport(arrived, senders)
	if r.paced() || r.even() || r.bounded() || r.broken() != 3 {
		t.Errorf("%d rules are broken, want 3", r.broken())
	}
	var out strings.Builder
	if r.print(&out); strings.Count(out.String(), "BROKEN") != 3 {
		t.Errorf("want 3 rules marked:\n%s", &out)
	}
}

func TestReportCounts(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	r := newReport([]time.Time{at(1500), at(0), at(900), at(2600), at(1000)}, 3)
	if r.arrived != 5 || r.span != 2600*time.Millisecond || r.fullest != 3 || r.most != 3 {
		t.Errorf("%+v", r)
	}
	if r.gap(0) != 100*time.Millisecond || r.gap(1) != 1100*time.Millisecond {
		t.Errorf("gaps %v", r.gaps)
	}
	if empty := newReport(nil, 0); empty.gap(0.5) != 0 || empty.complete() {
		t.Errorf("%+v", empty)
	}
}
