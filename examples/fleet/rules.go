package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/headgate-go/headgate/examples/internal/findings"
)

// judge turns a history into a table: its figures, and what some of them must
// be.
func judge(h *history) *table {
	f := figure(h)
	t := &table{findings.Table{Title: fmt.Sprintf("%s: %s", h.Name, h.Title)}}
	t.Show("calls offered, denied here, sent", fmt.Sprintf("%d, %d, %d", f.Offered, f.Denied, f.Sent))
	t.ruleRefusals(h, f)
	t.ruleQuota(h, f)
	t.ruleWait(h, f)
	t.ruleBackground(h, f)
	t.ruleOver(h, f)
	t.Show("round trips to Redis per call", f.Trips)
	t.rulePauses(h)
	t.ruleProbes(h, f)
	t.ruleOutage(h)
	t.ruleWhole(h)
	t.ruleEnd(h, f)
	t.Show("latest timer of the control, all processes", f.Noise)
	if h.Stragglers > 0 {
		t.Show("requests that the machine held up longer than the vendor waited", h.Stragglers)
	}
	return t
}

func (t *table) ruleRefusals(h *history, f figures) {
	const what = "vendor refusals for want of room"
	if !h.Goals.Refusals {
		t.Show(what, f.Refused)
		return
	}
	t.Require(what, f.Refused, "1 in 10000", f.Refused*10_000 <= f.Sent)
	if f.Refused > 0 {
		t.Show(fmt.Sprintf("… of them, within a window after a timer was more than %v late", spare), stumbles(h))
	}
}

func (t *table) ruleQuota(h *history, f figures) {
	what := fmt.Sprintf("quota used in the windows from %v on", h.From)
	if h.Goals.Quota == 0 {
		t.Show(what, findings.FinePercent(f.Quota))
		return
	}
	rule := fmt.Sprintf("at least %.0f %%", h.Goals.Quota)
	if h.Goals.Place {
		t.Show("… that late timers of the control would have cost", findings.FinePercent(f.QuotaNoise))
		rule += " less those"
	}
	t.Require(what, findings.FinePercent(f.Quota), rule, f.Quota >= h.Goals.Quota-f.QuotaNoise)
}

func (t *table) ruleWait(h *history, f figures) {
	t.Show("live calls: median wait", findings.Fine(f.LiveP50))
	if h.Goals.LiveWait == 0 {
		t.Show("… 99th percentile", findings.Fine(f.LiveP99))
		return
	}
	t.Show("… of how late the control's timers are", findings.Fine(h.MostNoise))
	t.Require("live calls: 99th percentile of the wait", findings.Fine(f.LiveP99), fmt.Sprintf("at most %v more", h.Goals.LiveWait),
		len(liveWaits(h)) > 0 && f.LiveP99 <= h.Goals.LiveWait+h.MostNoise)
}

func (t *table) ruleBackground(h *history, f figures) {
	const what = "background: highest share of a window"
	if h.Goals.Background == 0 {
		if f.Background > 0 {
			t.Show(what, findings.FinePercent(f.Background))
		}
		return
	}
	t.Require(what, findings.FinePercent(f.Background), fmt.Sprintf("some, at most %.0f %%", h.Goals.Background),
		f.Background > 0 && f.Background <= h.Goals.Background)
}

func (t *table) ruleOver(h *history, f figures) {
	what := fmt.Sprintf("worst window, of what the vendor allows, at %v", f.OverAt.Round(tenth))
	if h.Goals.Over == 0 {
		t.Show(what, findings.FinePercent(f.Over))
		return
	}
	t.Require(fmt.Sprintf("sent from %v on, of the budget of that time", h.From), findings.FinePercent(f.Total),
		fmt.Sprintf("at most %.0f %%", h.Goals.Over), f.Sent > 0 && f.Total <= h.Goals.Over)
	t.Require(what, findings.FinePercent(f.Over), fmt.Sprintf("at most %.0f %%", h.Goals.Over), f.Sent > 0 && f.Over <= h.Goals.Over)
}

func (t *table) rulePauses(h *history) {
	if !h.Goals.Pause {
		return
	}
	all := stops(h)
	t.Require("storms of 429 that the fleet ran into", len(all), "some", len(all) > 0)
	for i, s := range all {
		t.Require(fmt.Sprintf("storm %d: last process stopped after", i+1), findings.Fine(s.Reach),
			fmt.Sprintf("at most %v and %v", news, s.Noise.Round(time.Millisecond)), s.Told > 0 && s.Reach <= news+s.Noise)
		t.Require("… calls sent during the rest of the pause", s.During, "0", s.During == 0)
		t.Require("… calls in the first half of the ramp", s.Ramp, fmt.Sprintf("at most %d", s.RampMax), s.Ramp <= s.RampMax)
		t.Require("… 429 after it", s.Again, "0", s.Again == 0)
	}
}

func (t *table) ruleProbes(h *history, f figures) {
	if !h.Goals.Probes {
		if len(f.Probes) > 0 {
			t.Show("probes of the key", len(f.Probes))
		}
		return
	}
	p := lookAtProbes(h, f)
	t.Require("probes of the key", p, fmt.Sprintf("one every %v", p.Every), p.once())
	t.Require("… the process that held one of them was killed", p.Killed, "yes", p.Killed)
	t.Require("first answer after the key was repaired", findings.Fine(p.Resumed),
		fmt.Sprintf("at most %v, %v and %v", h.ProbeEvery, news, f.Noise.Round(time.Millisecond)),
		p.Resumed > 0 && p.Resumed <= h.ProbeEvery+news+f.Noise)
}

func (t *table) ruleOutage(h *history) {
	if n := len(h.Outages); n > 0 {
		longest := time.Duration(0)
		for _, o := range h.Outages {
			longest = max(longest, o.To-o.From)
		}
		t.Show("times that a process took Redis to be away, and the longest", fmt.Sprintf("%d, %v", n, longest.Round(tenth)))
	}
	if !h.Goals.Outage {
		return
	}
	for _, o := range outages(h) {
		t.Require(fmt.Sprintf("Redis hung for %v: longest decision of calls within 150ms of it", o.Hang.Round(time.Second)), findings.Fine(o.First),
			fmt.Sprintf("at most %v and %v", timeout, o.FirstNoise.Round(time.Millisecond)), o.Firsts > 0 && o.First <= timeout+o.FirstNoise)
		t.Require("… of calls later on, beside the control's latest timer", findings.Fine(o.Later),
			fmt.Sprintf("at most %v", decision), o.Laters > 0 && o.Later <= decision)
	}
}

func (t *table) ruleWhole(h *history) {
	if h.Goals.Whole == 0 {
		return
	}
	w := whole(h)
	t.Require("of the budget in the window in which processes were killed", findings.FinePercent(w.Before), "less than all", w.Before < 100)
	t.Require("… in the next one", findings.FinePercent(w.After), fmt.Sprintf("at least %.0f %%", h.Goals.Whole), w.After >= h.Goals.Whole)
}

// ruleEnd are the rules that hold in every run.
func (t *table) ruleEnd(h *history, f figures) {
	t.Require("calls lost, or back more than 50ms after their deadline", len(f.Lost), "0", f.Offered > 0 && len(f.Lost) == 0)
	if len(f.Lost) > 0 {
		t.Show("… the first: "+f.Lost[0], "")
	}
	t.Require("goroutines left behind", h.Goroutines, "0", h.Goroutines == 0)
	l := h.Leftovers
	if h.Slots {
		t.Require("slots left behind", l.Slots, "0", l.Slots == 0)
	}
	t.Require("keys in Redis without an expiry, or there after it", l.Forever+l.Outlived,
		fmt.Sprintf("0 of %d", l.Looked), l.Looked > 0 && l.Forever+l.Outlived == 0)
	unknown := 0
	for _, in := range h.Arrivals {
		if in.Status == http.StatusUnauthorized && len(h.Revoked) == 0 {
			unknown++
		}
	}
	if unknown > 0 {
		t.Require("requests with another key", unknown, "0", false)
	}
}
