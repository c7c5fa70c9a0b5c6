package main

import (
	"fmt"
	"net/http"
	"time"
)

// judge turns a history into a table: its figures, and what some of them must
// be.
func judge(h *history) *table {
	f := figure(h)
	t := &table{title: fmt.Sprintf("%s: %s", h.Name, h.Title)}
	t.show("calls offered, denied here, sent", fmt.Sprintf("%d, %d, %d", f.Offered, f.Denied, f.Sent))
	t.ruleRefusals(h, f)
	t.ruleQuota(h, f)
	t.ruleWait(h, f)
	t.ruleBackground(h, f)
	t.ruleOver(h, f)
	t.show("round trips to Redis per call", f.Trips)
	t.rulePauses(h)
	t.ruleProbes(h, f)
	t.ruleOutage(h)
	t.ruleWhole(h)
	t.ruleEnd(h, f)
	t.show("latest timer of the control, all processes", f.Noise)
	if h.Stragglers > 0 {
		t.show("requests that the machine held up longer than the vendor waited", h.Stragglers)
	}
	return t
}

func (t *table) ruleRefusals(h *history, f figures) {
	const what = "vendor refusals for want of room"
	if !h.Goals.Refusals {
		t.show(what, f.Refused)
		return
	}
	t.require(what, f.Refused, "1 in 10000", f.Refused*10_000 <= f.Sent)
	if f.Refused > 0 {
		t.show(fmt.Sprintf("… of them, within a window after a timer was more than %v late", spare), stumbles(h))
	}
}

func (t *table) ruleQuota(h *history, f figures) {
	what := fmt.Sprintf("quota used in the windows from %v on", h.From)
	if h.Goals.Quota == 0 {
		t.show(what, percent(f.Quota))
		return
	}
	rule := fmt.Sprintf("at least %.0f %%", h.Goals.Quota)
	if h.Goals.Place {
		t.show("… that late timers of the control would have cost", percent(f.QuotaNoise))
		rule += " less those"
	}
	t.require(what, percent(f.Quota), rule, f.Quota >= h.Goals.Quota-f.QuotaNoise)
}

func (t *table) ruleWait(h *history, f figures) {
	t.show("live calls: median wait", fine(f.LiveP50))
	if h.Goals.LiveWait == 0 {
		t.show("… 99th percentile", fine(f.LiveP99))
		return
	}
	t.show("… of how late the control's timers are", fine(h.MostNoise))
	t.require("live calls: 99th percentile of the wait", fine(f.LiveP99), fmt.Sprintf("at most %v more", h.Goals.LiveWait),
		len(liveWaits(h)) > 0 && f.LiveP99 <= h.Goals.LiveWait+h.MostNoise)
}

func (t *table) ruleBackground(h *history, f figures) {
	const what = "background: highest share of a window"
	if h.Goals.Background == 0 {
		if f.Background > 0 {
			t.show(what, percent(f.Background))
		}
		return
	}
	t.require(what, percent(f.Background), fmt.Sprintf("some, at most %.0f %%", h.Goals.Background),
		f.Background > 0 && f.Background <= h.Goals.Background)
}

func (t *table) ruleOver(h *history, f figures) {
	what := fmt.Sprintf("worst window, of what the vendor allows, at %v", f.OverAt.Round(tenth))
	if h.Goals.Over == 0 {
		t.show(what, percent(f.Over))
		return
	}
	t.require(fmt.Sprintf("sent from %v on, of the budget of that time", h.From), percent(f.Total),
		fmt.Sprintf("at most %.0f %%", h.Goals.Over), f.Sent > 0 && f.Total <= h.Goals.Over)
	t.require(what, percent(f.Over), fmt.Sprintf("at most %.0f %%", h.Goals.Over), f.Sent > 0 && f.Over <= h.Goals.Over)
}

func (t *table) rulePauses(h *history) {
	if !h.Goals.Pause {
		return
	}
	all := stops(h)
	t.require("storms of 429 that the fleet ran into", len(all), "some", len(all) > 0)
	for i, s := range all {
		t.require(fmt.Sprintf("storm %d: last process stopped after", i+1), fine(s.Reach),
			fmt.Sprintf("at most %v and %v", news, s.Noise.Round(time.Millisecond)), s.Told > 0 && s.Reach <= news+s.Noise)
		t.require("… calls sent during the rest of the pause", s.During, "0", s.During == 0)
		t.require("… calls in the first half of the ramp", s.Ramp, fmt.Sprintf("at most %d", s.RampMax), s.Ramp <= s.RampMax)
		t.require("… 429 after it", s.Again, "0", s.Again == 0)
	}
}

func (t *table) ruleProbes(h *history, f figures) {
	if !h.Goals.Probes {
		if len(f.Probes) > 0 {
			t.show("probes of the key", len(f.Probes))
		}
		return
	}
	p := lookAtProbes(h, f)
	t.require("probes of the key", p, fmt.Sprintf("one every %v", p.Every), p.once())
	t.require("… the process that held one of them was killed", p.Killed, "yes", p.Killed)
	t.require("first answer after the key was repaired", fine(p.Resumed),
		fmt.Sprintf("at most %v, %v and %v", h.ProbeEvery, news, f.Noise.Round(time.Millisecond)),
		p.Resumed > 0 && p.Resumed <= h.ProbeEvery+news+f.Noise)
}

func (t *table) ruleOutage(h *history) {
	if n := len(h.Outages); n > 0 {
		longest := time.Duration(0)
		for _, o := range h.Outages {
			longest = max(longest, o.To-o.From)
		}
		t.show("times that a process took Redis to be away, and the longest", fmt.Sprintf("%d, %v", n, longest.Round(tenth)))
	}
	if !h.Goals.Outage {
		return
	}
	for _, o := range outages(h) {
		t.require(fmt.Sprintf("Redis hung for %v: longest decision of calls within 150ms of it", o.Hang.Round(time.Second)), fine(o.First),
			fmt.Sprintf("at most %v and %v", timeout, o.FirstNoise.Round(time.Millisecond)), o.Firsts > 0 && o.First <= timeout+o.FirstNoise)
		t.require("… of calls later on, beside the control's latest timer", fine(o.Later),
			fmt.Sprintf("at most %v", decision), o.Laters > 0 && o.Later <= decision)
	}
}

func (t *table) ruleWhole(h *history) {
	if h.Goals.Whole == 0 {
		return
	}
	w := whole(h)
	t.require("of the budget in the window in which processes were killed", percent(w.Before), "less than all", w.Before < 100)
	t.require("… in the next one", percent(w.After), fmt.Sprintf("at least %.0f %%", h.Goals.Whole), w.After >= h.Goals.Whole)
}

// ruleEnd are the rules that hold in every run.
func (t *table) ruleEnd(h *history, f figures) {
	t.require("calls lost, or back more than 50ms after their deadline", len(f.Lost), "0", f.Offered > 0 && len(f.Lost) == 0)
	if len(f.Lost) > 0 {
		t.show("… the first: "+f.Lost[0], "")
	}
	t.require("goroutines left behind", h.Goroutines, "0", h.Goroutines == 0)
	l := h.Leftovers
	if h.Slots {
		t.require("slots left behind", l.Slots, "0", l.Slots == 0)
	}
	t.require("keys in Redis without an expiry, or there after it", l.Forever+l.Outlived,
		fmt.Sprintf("0 of %d", l.Looked), l.Looked > 0 && l.Forever+l.Outlived == 0)
	unknown := 0
	for _, in := range h.Arrivals {
		if in.Status == http.StatusUnauthorized && len(h.Revoked) == 0 {
			unknown++
		}
	}
	if unknown > 0 {
		t.require("requests with another key", unknown, "0", false)
	}
}
