package pause_test

import (
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/pause"
)

func TestFractionalHintInTheBody(t *testing.T) {
	body := func(delay string) string {
		return `{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure",
			"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},
			{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"` + delay + `"}]}}`
	}
	tests := map[string]time.Duration{
		"45.837906927s": 45_837_906_927,
		"0.5s":          500 * time.Millisecond,
		"58s":           58 * time.Second,
		"1m":            time.Minute,
		"900ms":         900 * time.Millisecond,
		"35640s":        35640 * time.Second,
		"-3s":           0,
		"soon":          0,
	}
	for delay, want := range tests {
		if got, ok := pause.FromBody([]byte(body(delay)), present); got != want || ok != (want > 0) {
			t.Errorf("%s: %v, %v, want %v", delay, got, ok, want)
		}
	}
}

func TestFromJSONReadsTheFieldsThatNameAWait(t *testing.T) {
	tests := map[string]time.Duration{
		`{"retry_after":30}`:                                              30 * time.Second,
		`{"retry_after":1.5}`:                                             1500 * time.Millisecond,
		`{"retryAfter":"30"}`:                                             30 * time.Second,
		`{"retry_after_ms":250}`:                                          250 * time.Millisecond,
		`{"retryAfterMs":250}`:                                            250 * time.Millisecond,
		`{"retry_after_seconds":7}`:                                       7 * time.Second,
		`{"a":[{"b":{"retry_after":3}}]}`:                                 3 * time.Second,
		`[{"error":{"retryDelay":"2s"}}]`:                                 2 * time.Second,
		`{"retry_after":3,"x":{"retry_after":9}}`:                         9 * time.Second,
		`{"1":[{"type":"whatsapp","estimated_time_to_regain_access":5}]}`: 5 * time.Minute,
		`{"retry_after":1772600797}`:                                      30 * time.Second,
		`{"retry_after":99999999999999999999}`:                            pause.MaxHint,
		`{"retry_after":30,"cut off":"he`:                                 30 * time.Second,
		`{"x":["retry_after",5],"retry_after":4}`:                         4 * time.Second,

		`{"retry_after":0}`: 0, `{"retry_after":-1}`: 0, `{"retry_after":null}`: 0, `{"retry_after":true}`: 0,
		`{"retry_after":{"seconds":5}}`: 0, `{"retry_after":[5]}`: 0, `{"retry_after":1e309}`: 0, `{"retry_after":NaN}`: 0,
		`["retry_after",5]`: 0, `{"message":"retry_after"}`: 0, `{"retry":5}`: 0, `5`: 0, ``: 0, `<html>`: 0, `{`: 0, `]`: 0,
		`{"estimated_time_to_regain_access":0}`: 0,
	}
	for text, want := range tests {
		if got, ok := pause.FromJSON([]byte(text), present); got != want || ok != (want > 0) {
			t.Errorf("FromJSON(%s) = %v, %v, want %v", text, got, ok, want)
		}
	}
}

func TestFromTextReadsWhatVendorsWrite(t *testing.T) {
	tests := map[string]time.Duration{
		"Rate limit reached. Please try again in 644ms.":       644 * time.Millisecond,
		"Please try again in 9m38.016s. Visit https://x.":      9*time.Minute + 38_016*time.Millisecond,
		`limit: 20, model: m\nPlease retry in 9h54m3.5s.`:      9*time.Hour + 54*time.Minute + 3500*time.Millisecond,
		"Please retry after 45 seconds.":                       45 * time.Second,
		"PLEASE RETRY AFTER 1 MINUTE":                          time.Minute,
		"Try again in 1 hour and 5 minutes.":                   65 * time.Minute,
		"try again in 1 hour, 5 minutes":                       65 * time.Minute,
		"Please wait 20 seconds.":                              20 * time.Second,
		"Retry in a while. Or rather: please retry in 3s":      3 * time.Second,
		"retry after 86400 seconds":                            24 * time.Hour,
		"try again in 99999999999999999999 days":               pause.MaxHint,
		"try again in 20s, or upgrade 5 days ago":              20 * time.Second,
		"Please try again in 0s.":                              0,
		"Please try again later.":                              0,
		"Please wait a few minutes before you try again.":      0,
		"Please retry after 2026-03-04.":                       0,
		"Retry after 30":                                       0,
		"try again in -5s":                                     0,
		"try again in 5 months":                                0,
		"You exceeded your quota of 20 requests in 60 seconds": 0,
		"":             0,
		"try again in": 0,
		"try again in " + strings.Repeat(" ", 100) + "5s": 0,
		strings.Repeat("retry in ", 100) + "5s":           0,
	}
	for text, want := range tests {
		if got, ok := pause.FromText(text); got != want || ok != (want > 0) {
			t.Errorf("FromText(%q) = %v, %v, want %v", text, got, ok, want)
		}
	}
}

func TestRefusalThatIsNoJSONNamesItsWaitInTheHeader(t *testing.T) {
	html := "<html><title>429</title>" + strings.Repeat("<p>busy</p>", 20_000) + "</html>"
	for _, body := range []string{html, `{"error":`, "", "\x00\xff\xfe"} {
		d, ok := pause.FromHeaders(header("Retry-After", "7", "Content-Type", "text/html"), present)
		if d != 7*time.Second || !ok {
			t.Errorf("FromHeaders = %v, %v, want 7s", d, ok)
		}
		if d, ok := pause.FromBody([]byte(body), present); ok {
			t.Errorf("FromBody(%.20q) = %v, want none", body, d)
		}
	}
}
