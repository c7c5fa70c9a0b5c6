package pause

import (
	"net/http"
	"strings"
	"time"
)

// vendorDates are the layouts of RFC 9110's three dates and of RFC 1123 with
// a numeric zone. GMT is literal: Go would take any other letters for a zone
// with an offset of zero.
var vendorDates = []string{
	http.TimeFormat,
	"Monday, 02-Jan-06 15:04:05 GMT",
	time.ANSIC,
	time.RFC1123Z,
	time.RFC3339,
}

// parseDate reads an HTTP date, also with UTC instead of GMT, or RFC 3339.
func parseDate(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if head, isUTC := strings.CutSuffix(s, " UTC"); isUTC {
		s = head + " GMT"
	}
	for _, layout := range vendorDates {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// VendorNow returns the vendor's present: the Date header of its answer, or
// now where that is missing or unreadable. Waits that a vendor states as an
// instant are measured against it.
func VendorNow(h http.Header, now time.Time) time.Time {
	if t, ok := parseDate(h.Get("Date")); ok {
		return t
	}
	return now
}

// UntilInstant reads an instant and returns how far ahead of now it is: an
// HTTP date, RFC 3339, unix seconds or unix milliseconds, fractions allowed.
// Seconds and milliseconds are told apart by size: from 100 000 000 000 on
// they are milliseconds. It is false for a past instant and for a number that
// is more likely a delay, below MaxHint in seconds.
func UntilInstant(s string, now time.Time) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	if t, ok := parseDate(s); ok {
		return bounded(t.Sub(now))
	}
	whole, fraction, _ := strings.Cut(s, ".")
	n, ok := parseEpoch(whole)
	if !ok || !allDigits(fraction) || n < int64(MaxHint/time.Second) {
		return 0, false
	}
	unit := time.Second
	if n >= firstMilli {
		unit = time.Millisecond
	}
	return bounded(epoch(n, unit).Add(fractionOf(fraction, unit)).Sub(now))
}

// firstMilli is the smallest number that is unix milliseconds. As seconds it
// would be the year 5138; as milliseconds it is 1973.
const firstMilli = 100_000_000_000

// maxEpoch is where epochs saturate: the year 9999 in milliseconds, so that no
// conversion overflows.
const maxEpoch = 253_402_300_799_999

// parseEpoch reads digits, saturated at maxEpoch.
func parseEpoch(digits string) (int64, bool) {
	if digits == "" || !allDigits(digits) {
		return 0, false
	}
	var n int64
	for i := range len(digits) {
		if n = n*10 + int64(digits[i]-'0'); n > maxEpoch {
			return maxEpoch, true
		}
	}
	return n, true
}

func epoch(n int64, unit time.Duration) time.Time {
	if unit == time.Millisecond {
		return time.UnixMilli(n)
	}
	return time.Unix(n, 0)
}
