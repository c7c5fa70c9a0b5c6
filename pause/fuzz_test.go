package pause_test

import (
	"testing"
	"time"

	"github.com/headgate-go/headgate/pause"
)

// checkWait fails where a parser's result breaks the package's promise: none,
// or a wait from a microsecond to MaxHint.
func checkWait(t *testing.T, parser string, d time.Duration, ok bool) {
	t.Helper()
	if !ok && d != 0 {
		t.Errorf("%s: %v without ok", parser, d)
	}
	if ok && (d < time.Microsecond || d > pause.MaxHint) {
		t.Errorf("%s: %v, out of range", parser, d)
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"10", "0.25", "10, 20", "-5", "1e309", "9223372036", "1772600797", "10s", "NaN",
		"Wed, 04 Mar 2026 05:06:37 GMT", "Wednesday, 04-Mar-26 05:06:37 GMT", "Wed Mar  4 05:06:37 2026"} {
		f.Add(s, "Wed, 04 Mar 2026 05:06:07 GMT", int64(1772600767))
	}
	f.Fuzz(func(t *testing.T, value, date string, now int64) {
		h := header("Retry-After", value, "Retry-After-Ms", value, "Date", date)
		at := time.Unix(now, 0)
		d, ok := pause.RetryAfter(h, at)
		checkWait(t, "RetryAfter", d, ok)
		d, ok = pause.RetryAfterMillis(h, at)
		checkWait(t, "RetryAfterMillis", d, ok)
		d, ok = pause.Until(value, at)
		checkWait(t, "Until", d, ok)
		d, ok = pause.UntilInstant(value, at)
		checkWait(t, "UntilInstant", d, ok)
	})
}

func FuzzDuration(f *testing.F) {
	for _, s := range []string{"1s", "6m0s", "2m59.56s", "34.074824224s", "1d", "0s", "99999999999999999999h", "1.5µs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, ok := pause.ParseDuration(s)
		checkWait(t, "ParseDuration", d, ok)
		// Where Go reads a duration too, both must mean the same, up to the
		// rounding: Go cuts off what this package rounds up, number by number.
		const slack = time.Microsecond
		if std, err := time.ParseDuration(s); ok && err == nil && d < pause.MaxHint && len(s) < 100 && (d-std).Abs() > slack {
			t.Errorf("ParseDuration(%q) = %v, Go says %v", s, d, std)
		}
	})
}

func FuzzRateLimitField(f *testing.F) {
	for _, s := range []string{`"permin";r=0;t=23, "day";r=17;t=4000`, "limit=100, remaining=0, reset=30", "a;r=0;t=7",
		"problemPolicy;r=0, t=10", `"a\"";r=0;t=1;pk=:YQ==:;b=?1`, `"`, `;`, `"a";r=0;t=99999999999999999999`} {
		f.Add(s, "0", "30")
	}
	f.Fuzz(func(t *testing.T, field, remaining, reset string) {
		d, ok := pause.RateLimit(header("RateLimit", field), present)
		checkWait(t, "RateLimit", d, ok)
		d, ok = pause.RateLimit(header("RateLimit-Remaining", remaining, "RateLimit-Reset", reset), present)
		checkWait(t, "RateLimit up to draft 06", d, ok)
	})
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"Please try again in 9m38.016s.", "retry after 45 seconds", `{"retry_after":1.5}`,
		`[{"error":{"details":[{"retryDelay":"34.07s"}]}}]`, "try again in 1 hour and 5 minutes", `{"retry_after_ms":1e309}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, ok := pause.FromText(text)
		checkWait(t, "FromText", d, ok)
		d, ok = pause.FromJSON([]byte(text), present)
		checkWait(t, "FromJSON", d, ok)
		d, ok = pause.FromBody([]byte(text), present)
		checkWait(t, "FromBody", d, ok)
	})
}
