package pause

import (
	"strings"
	"time"
	"unicode"
)

// units are those of Go's durations, and the day.
var units = map[string]time.Duration{
	"ns": time.Nanosecond,
	"us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond, // micro sign, Greek mu
	"ms": time.Millisecond,
	"s":  time.Second,
	"m":  time.Minute,
	"h":  time.Hour,
	"d":  24 * time.Hour,
}

// ParseDuration reads a duration such as "1s", "6m0s", "12ms", "9h54m3.5s" or
// "34.074824224s", with d for days and blanks around it allowed. It is false
// for a bare number, a sign, and a sum of zero. The result is between a
// microsecond and MaxHint.
func ParseDuration(s string) (time.Duration, bool) {
	d, rest, ok := cutDuration(strings.TrimSpace(s), units)
	if !ok || rest != "" {
		return 0, false
	}
	return bounded(d)
}

// cutDuration reads number-unit pairs from the front of s as long as there are
// some, with the units of the given table, and returns what follows them. It
// is false where not even one is there. A number that no unit follows is part
// of the rest.
func cutDuration(s string, units map[string]time.Duration) (sum time.Duration, rest string, ok bool) {
	for {
		number := len(s) - len(strings.TrimLeft(s, "0123456789."))
		unit, size := cutUnit(s[number:], units)
		if number == 0 || size == 0 {
			return sum, s, ok
		}
		d, valid := parseDecimal(s[:number], unit)
		if !valid {
			return sum, s, ok
		}
		sum, s, ok = min(sum+d, MaxHint), s[number+size:], true
	}
}

// cutUnit returns the unit at the front of s and its length in bytes, 0 where
// there is none. The name is all letters that follow: "m" isn't found in "month".
func cutUnit(s string, units map[string]time.Duration) (unit time.Duration, size int) {
	end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(s)
	}
	unit, known := units[s[:end]]
	if !known {
		return 0, 0
	}
	return unit, end
}
