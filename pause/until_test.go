package pause_test

import (
	"testing"
	"time"

	"github.com/headgate-go/headgate/pause"
)

func TestParseDurationReadsWhatVendorsSend(t *testing.T) {
	tests := map[string]time.Duration{
		"1s":                        time.Second,
		"6m0s":                      6 * time.Minute,
		"12ms":                      12 * time.Millisecond,
		"2m59.56s":                  2*time.Minute + 59_560*time.Millisecond,
		"9h54m3.5s":                 9*time.Hour + 54*time.Minute + 3500*time.Millisecond,
		"34.074824224s":             34_074_824_224,
		"45.837906927s":             45_837_906_927,
		"0.5s":                      500 * time.Millisecond,
		"1m":                        time.Minute,
		"1d2h":                      26 * time.Hour,
		"7us":                       7 * time.Microsecond,
		"7µs":                       7 * time.Microsecond,
		" 10s ":                     10 * time.Second,
		"0.1ns":                     time.Microsecond,
		"87600h":                    pause.MaxHint,
		"87601h":                    pause.MaxHint,
		"99999999999999999999s":     pause.MaxHint,
		"80000h80000h80000h":        pause.MaxHint,
		"0.999999999999999999999ms": time.Millisecond,

		"": 0, "0s": 0, "10": 0, "s": 0, "-1s": 0, "+1s": 0, "1 s": 0, "1s ago": 0, "1S": 0,
		"1month": 0, "1m!": 0, "1.s.": 0, ".s": 0, "1..5s": 0, "1e3s": 0, "NaNs": 0, "1s1": 0,
	}
	for text, want := range tests {
		got, ok := pause.ParseDuration(text)
		if got != want || ok != (want > 0) {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
}

func TestUntilInstantReadsEveryForm(t *testing.T) {
	tests := map[string]time.Duration{
		"2026-03-04T05:06:37Z":          30 * time.Second,
		"2026-03-04T06:06:37+01:00":     30 * time.Second,
		"2026-03-04T05:06:37.5Z":        30*time.Second + 500*time.Millisecond,
		"Wed, 04 Mar 2026 05:06:37 GMT": 30 * time.Second,
		"1772600797":                    30 * time.Second,
		"1772600797.25":                 30*time.Second + 250*time.Millisecond,
		"1772600797000":                 30 * time.Second,
		"1772600797250":                 30*time.Second + 250*time.Millisecond,
		"9999-12-31T23:59:59Z":          pause.MaxHint,
		"99999999999999999999":          pause.MaxHint,

		"2026-03-04T05:06:07Z": 0, "2015-10-21T07:28:00Z": 0, "1772600000": 0, "1772600000000": 0,
		"30": 0, "0": 0, "-1772600797": 0, "1772600797s": 0, "2026-03-04T05:06:37": 0, "tomorrow": 0, "": 0,
	}
	for text, want := range tests {
		got, ok := pause.UntilInstant(text, present)
		if got != want || ok != (want > 0) {
			t.Errorf("UntilInstant(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
}

// The same field comes as a duration, a date, an epoch and plain seconds. Each
// must be read for what it is, above all the epoch.
func TestResetFieldIsNeverMisread(t *testing.T) {
	tests := map[string]time.Duration{
		"6m0s":                 6 * time.Minute,
		"500ms":                500 * time.Millisecond,
		"2026-03-04T05:06:37Z": 30 * time.Second,
		"1772600797":           30 * time.Second,
		"1772600797000":        30 * time.Second,
		"55":                   55 * time.Second,
		"0.6":                  600 * time.Millisecond,
		"1772600737":           0,             // an epoch that has passed
		"315359999":            315359999e9,   // the longest delay
		"315360000":            pause.MaxHint, // 1979 isn't near
		"1000000000":           pause.MaxHint, // nor is 2001
		"4102444800":           pause.MaxHint, // nor is 2100
	}
	for text, want := range tests {
		got, ok := pause.Until(text, present)
		if got != want || ok != (want > 0) {
			t.Errorf("Until(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
}

func TestFullRefillHeadersAreIgnored(t *testing.T) {
	h := header(
		"x-ratelimit-reset-requests", "6m0s",
		"anthropic-ratelimit-tokens-reset", "2026-03-04T05:06:37Z",
		"x-ratelimit-reset", "1772600797",
	)
	if d, ok := pause.FromHeaders(h, present); ok {
		t.Errorf("FromHeaders = %v, want none: these name the time of full replenishment", d)
	}
}
