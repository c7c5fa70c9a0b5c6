package pause_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/headgate-go/headgate/pause"
)

// present is what the tests call now.
var present = time.Date(2026, time.March, 4, 5, 6, 7, 0, time.UTC)

// header builds a header from pairs of name and value.
func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}

// A waitTest's want is 0 where there must be no wait.
type waitTest struct {
	name   string
	header http.Header
	want   time.Duration
}

func runWaits(t *testing.T, read func(http.Header, time.Time) (time.Duration, bool), tests []waitTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := read(tt.header, present)
			if got != tt.want || ok != (tt.want > 0) {
				t.Errorf("%v: %v, %v, want %v", tt.header, got, ok, tt.want)
			}
		})
	}
}

func TestDateIsMeasuredAgainstTheVendorsClock(t *testing.T) {
	vendor := present.Add(-time.Minute) // their clock is a minute behind ours
	date := vendor.Format(http.TimeFormat)
	in20 := vendor.Add(20 * time.Second)
	const rfc850, utc = "Monday, 02-Jan-06 15:04:05 GMT", "Mon, 02 Jan 2006 15:04:05 UTC"
	runWaits(t, pause.RetryAfter, []waitTest{
		{"IMF-fixdate", header("Date", date, "Retry-After", in20.Format(http.TimeFormat)), 20 * time.Second},
		{"RFC 850", header("Date", date, "Retry-After", in20.Format(rfc850)), 20 * time.Second},
		{"asctime", header("Date", date, "Retry-After", in20.Format(time.ANSIC)), 20 * time.Second},
		{"RFC 1123 with UTC", header("Date", date, "Retry-After", in20.Format(utc)), 20 * time.Second},
		{"RFC 1123 with an offset", header("Date", date, "Retry-After", "Wed, 04 Mar 2026 06:05:27 +0100"), 20 * time.Second},
		{"the Date has UTC too", header("Date", vendor.Format(utc), "Retry-After", in20.Format(utc)), 20 * time.Second},
		{"RFC 3339", header("Date", date, "Retry-After", in20.Format(time.RFC3339)), 20 * time.Second},
		{"unix seconds", header("Date", date, "Retry-After", "1772600727"), 20 * time.Second},
		{"no Date: our clock", header("Retry-After", present.Add(20*time.Second).Format(http.TimeFormat)), 20 * time.Second},
		{"unreadable Date: our clock", header("Date", "today", "Retry-After", present.Add(20*time.Second).Format(http.TimeFormat)), 20 * time.Second},
		{"seconds need no clock", header("Date", date, "Retry-After", "20"), 20 * time.Second},
		{"letters for a zone aren't UTC", header("Retry-After", "Wed, 04 Mar 2026 05:06:27 PST"), 0},
		{"nor in RFC 850", header("Retry-After", "Wednesday, 04-Mar-26 05:06:27 PST"), 0},
	})
}

func TestNegativeAndPastWaitsAreNone(t *testing.T) {
	runWaits(t, pause.FromHeaders, []waitTest{
		{"negative", header("Retry-After", "-5"), 0},
		{"minus one", header("Retry-After", "-1"), 0},
		{"negative fraction", header("Retry-After", "-0.5"), 0},
		{"negative duration", header("Retry-After", "-5s"), 0},
		{"negative milliseconds", header("Retry-After-Ms", "-1"), 0},
		{"zero", header("Retry-After", "0"), 0},
		{"zero fraction", header("Retry-After", "0.000"), 0},
		{"zero duration", header("Retry-After", "0s"), 0},
		{"past date", header("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT"), 0},
		{"the present", header("Retry-After", present.Format(http.TimeFormat)), 0},
		{"past epoch", header("Retry-After", "1772600000"), 0},
		{"negative, then a wait", header("Retry-After-Ms", "-1", "Retry-After", "3"), 3 * time.Second},
		{"past date and a negative", header("Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT", "retry-after-ms", "-1"), 0},
	})
}

func TestHugeFiguresSaturateAndGarbageIsNone(t *testing.T) {
	runWaits(t, pause.RetryAfter, []waitTest{
		{"more than a Duration", header("Retry-After", "9223372036"), pause.MaxHint},
		{"just a Duration in ns", header("Retry-After", "9223372036854775807"), pause.MaxHint},
		{"more than an integer", header("Retry-After", "99999999999999999999"), pause.MaxHint},
		{"one less digit", header("Retry-After", "10000000000"), pause.MaxHint},
		{"with a fraction", header("Retry-After", "99999999999999999999.5"), pause.MaxHint},
		{"duration", header("Retry-After", "99999999999999999999h1s"), pause.MaxHint},
		{"exponent", header("Retry-After", "1e309"), 0},
		{"small exponent", header("Retry-After", "1e1"), 0},
		{"NaN", header("Retry-After", "NaN"), 0},
		{"Inf", header("Retry-After", "Inf"), 0},
		{"+Inf", header("Retry-After", "+Inf"), 0},
		{"hex float", header("Retry-After", "0x1p4"), 0},
		{"hex", header("Retry-After", "0x10"), 0},
		{"underscore", header("Retry-After", "1_000"), 0},
		{"sign", header("Retry-After", "+5"), 0},
		{"word", header("Retry-After", "soon"), 0},
		{"point", header("Retry-After", "."), 0},
		{"two points", header("Retry-After", "1.2.3"), 0},
		{"empty", header("Retry-After", ""), 0},
		{"blank", header("Retry-After", "  "), 0},
		{"missing", header(), 0},
		{"duration", header("Retry-After", "10s"), 10 * time.Second},
		{"blanks around", header("Retry-After", " 10 "), 10 * time.Second},
		{"list: the larger", header("Retry-After", "10, 20"), 20 * time.Second},
		{"list, larger first", header("Retry-After", "20,10"), 20 * time.Second},
		{"two headers: the larger", header("Retry-After", "20", "Retry-After", "10"), 20 * time.Second},
		{"garbage beside a wait", header("Retry-After", "soon, 10, -3"), 10 * time.Second},
		{"date and seconds in one", header("Retry-After", "10, Wed, 04 Mar 2026 05:06:27 GMT"), 20 * time.Second},
		{"two dates in one", header("Retry-After", "Wed, 04 Mar 2026 05:06:27 GMT, Wed, 04 Mar 2026 05:06:37 GMT"), 30 * time.Second},
	})
}

func TestLongHintsAreReadAsTheyStand(t *testing.T) {
	runWaits(t, pause.RetryAfter, []waitTest{
		{"a minute", header("Retry-After", "60"), time.Minute},
		{"above a minute", header("Retry-After", "61"), 61 * time.Second},
		{"two minutes", header("Retry-After", "120"), 2 * time.Minute},
		{"ten minutes", header("Retry-After", "600"), 10 * time.Minute},
		{"a day", header("Retry-After", "86400"), 24 * time.Hour},
	})
}

func TestAbsurdHintsEndAtThePolicysMax(t *testing.T) {
	for _, text := range []string{"86400", "999999", "31536000", "9223372036"} {
		d, ok := pause.RetryAfter(header("Retry-After", text), present)
		if !ok || d < 24*time.Hour {
			t.Errorf("%s: %v, %v, want the figure as it stands, to be shown", text, d, ok)
		}
		if got := (pause.Policy{}).Length(d); got != pause.DefaultMax {
			t.Errorf("%s: pause of %v, want %v", text, got, pause.DefaultMax)
		}
	}
}

func TestFractionsOfASecondAreKept(t *testing.T) {
	runWaits(t, pause.FromHeaders, []waitTest{
		{"quarter", header("Retry-After", "0.25"), 250 * time.Millisecond},
		{"float", header("Retry-After", "2.0"), 2 * time.Second},
		{"20 ms", header("Retry-After", "0.02"), 20 * time.Millisecond},
		{"20 ms in ms", header("retry-after-ms", "20"), 20 * time.Millisecond},
		{"no leading zero", header("Retry-After", ".5"), 500 * time.Millisecond},
		{"no fraction after the point", header("Retry-After", "5."), 5 * time.Second},
		{"nanoseconds", header("Retry-After", "34.074824224"), 34_074_824_224},
		{"beyond nanoseconds rounds up", header("Retry-After", "1.0000000001"), time.Second + 1},
		{"beyond 18 digits too", header("Retry-After", "1.00000000000000000000001"), time.Second + 1},
		{"below a microsecond rounds up", header("Retry-After", "0.0000000001"), time.Microsecond},
		{"nanosecond rounds up", header("Retry-After", "1ns"), time.Microsecond},
		{"fraction of a millisecond", header("retry-after-ms", "0.5"), 500 * time.Microsecond},
	})
}

func TestMillisecondsComeBeforeSecondsAndTheDraft(t *testing.T) {
	rest := []string{"Retry-After", "5", "RateLimit", `"default";r=0;t=60`}
	with := func(pairs ...string) http.Header { return header(append(pairs, rest...)...) }
	runWaits(t, pause.FromHeaders, []waitTest{
		{"retry-after-ms", with("retry-after-ms", "300"), 300 * time.Millisecond},
		{"x-ms-retry-after-ms", with("x-ms-retry-after-ms", "1500"), 1500 * time.Millisecond},
		{"x-amz-retry-after", with("x-amz-retry-after", "1500"), 1500 * time.Millisecond},
		{"the first of them", with("x-amz-retry-after", "1", "x-ms-retry-after-ms", "2", "retry-after-ms", "3"), 3 * time.Millisecond},
		{"unreadable: the next", with("retry-after-ms", "soon", "x-ms-retry-after-ms", "2"), 2 * time.Millisecond},
		{"a unit of its own", with("retry-after-ms", "2s"), 2 * time.Second},
		{"huge", with("retry-after-ms", "99999999999999999999"), pause.MaxHint},
		{"an instant", with("retry-after-ms", "1772600777000"), 10 * time.Second},
		{"none: Retry-After", with(), 5 * time.Second},
		{"no Retry-After either", header(rest[2:]...), time.Minute},
		{"unreadable Retry-After", header("Retry-After", "soon", rest[2], rest[3]), time.Minute},
	})
}
