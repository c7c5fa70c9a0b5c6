package pause

import (
	"strings"
	"time"
)

// Until reads a wait in whatever form it comes: seconds ("30", "0.25"), a
// duration ("6m0s"), a date, or an instant in unix seconds or milliseconds.
// It is what a Retry-After header or a reset field of unknown make may hold;
// whether such a field means what one wants to know is for the caller to know.
//
// It is false for zero, negative, past and unreadable waits. The result is
// between a microsecond and MaxHint.
func Until(s string, now time.Time) (time.Duration, bool) {
	return until(s, time.Second, now)
}

// until is Until for bare numbers in the given unit.
func until(s string, unit time.Duration, now time.Time) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	d, isNumber := parseDecimal(s, unit)
	switch {
	case isNumber && d < MaxHint:
		return bounded(d)
	case isNumber:
		return beyondMax(s, now)
	}
	if d, ok := ParseDuration(s); ok {
		return d, true
	}
	return UntilInstant(s, now)
}

// beyondMax decides what a number means that would be a delay of MaxHint or
// more: the instant it states if that is near, else a delay after all.
func beyondMax(s string, now time.Time) (time.Duration, bool) {
	whole, _, _ := strings.Cut(s, ".")
	n, _ := parseEpoch(whole)
	for _, unit := range []time.Duration{time.Second, time.Millisecond} {
		if ahead := epoch(n, unit).Sub(now); -MaxHint < ahead && ahead < MaxHint {
			return UntilInstant(s, now)
		}
	}
	return MaxHint, true
}

// largest returns the largest wait among the comma-separated members of the
// values. A date has a comma of its own, so each member is also tried together
// with the next.
func largest(values []string, unit time.Duration, now time.Time) (time.Duration, bool) {
	var most time.Duration
	for _, value := range values {
		members := strings.Split(value, ",")
		for i, member := range members {
			if d, ok := until(member, unit, now); ok {
				most = max(most, d)
			}
			if i+1 < len(members) {
				if t, ok := parseDate(member + "," + members[i+1]); ok {
					most = max(most, t.Sub(now))
				}
			}
		}
	}
	return bounded(most)
}
