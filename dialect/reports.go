package dialect

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// A shown is one of a vendor's limits, as its answers show it.
type shown struct {
	unit throttle.Unit
	per  time.Duration // the window that the vendor documents; 0: none
	// limit and remaining are headers with whole numbers, in canonical spelling.
	limit, remaining string
	// coarse is what remaining is rounded to, in units.
	coarse int64
	// refill is a header with the time to a full refill, where some limits that
	// are shown so are a day's; see isDaily.
	refill string
	// instead: only where the one before it isn't shown.
	instead bool
}

// Reports returns what an answer's header says of the vendor's limits, for
// Permit.Reported: at most one report for a unit and window, the strictest. It
// doesn't touch the body. Every status has a say.
//
// Reported is what is sure. A limit of zero and negative figures are what some
// servers send in place of a figure, and say nothing; nor do garbage, two
// headers that contradict each other, and an answer from a cache, whose figures
// are another call's. What is left in a window that isn't known may be a
// minute's, and the limit that it would be held against a day's, so that only
// the limit is reported then. Figures too large to count saturate at twice
// throttle.MaxAmount.
func Reports(d Dialect, resp *http.Response) []throttle.Report {
	if isFromCache(resp.Header) {
		return nil
	}
	v := d.spec()
	var all reportList
	said := false
	for i := range v.shown {
		if s := &v.shown[i]; !s.instead || !said {
			said = all.add(s.read(resp.Header))
		}
	}
	for _, read := range v.reports {
		for _, r := range read(resp) {
			all.add(r)
		}
	}
	for i := range all {
		if all[i].Scope == throttle.ScopeNone {
			all[i].Scope = v.busyScope // what is short for a model is counted for a model
		}
	}
	return all
}

// read returns what the header says of the limit.
func (s *shown) read(h http.Header) throttle.Report {
	r := throttle.Report{Unit: s.unit, Per: s.per, Limit: throttle.Unsaid, Remaining: throttle.Unsaid, Coarse: s.coarse}
	if values := h[s.limit]; len(values) > 0 {
		if r.Limit = amount(agreed(values)); r.Limit < 1 {
			return r // of what isn't a limit nothing can be left
		}
	}
	r.Remaining = amount(agreed(h[s.remaining]))
	if s.refill != "" && isDaily(r, h.Get(s.refill)) {
		r.Per = 24 * time.Hour
	}
	return r
}

// isDaily reports whether a limit is a day's, given the time to its full
// refill: what is used of a minute's is back within a minute, so all of it would
// never take an hour.
func isDaily(r throttle.Report, refill string) bool {
	d, ok := pause.ParseDuration(refill)
	used := r.Limit - r.Remaining
	return ok && r.Remaining >= 0 && used > 0 && d.Hours()*float64(r.Limit) > float64(used)
}

// A reportList has one report for a unit and window.
type reportList []throttle.Report

// add takes a report over, as far as it says anything, and reports whether it
// does. Of two for one unit and window the stricter figures stand: both limits
// hold, and a throttle has one for them.
func (l *reportList) add(r throttle.Report) bool {
	r.Limit, r.Remaining, r.Coarse = sane(r.Limit, 1), sane(r.Remaining, 0), max(0, sane(r.Coarse, 0))
	if r.Per <= 0 {
		r.Per, r.Remaining = 0, throttle.Unsaid
	}
	if r.Limit < 0 && r.Remaining < 0 {
		return false
	}
	same := func(other throttle.Report) bool { return other.Unit == r.Unit && other.Per == r.Per }
	i := slices.IndexFunc(*l, same)
	if i < 0 {
		*l = append(*l, r)
		return true
	}
	known := &(*l)[i]
	if known.Limit < 0 || r.Limit >= 1 && r.Limit < known.Limit {
		known.Limit = r.Limit
	}
	if known.Remaining < 0 || r.Remaining >= 0 && r.Remaining+r.Coarse < known.Remaining+known.Coarse {
		known.Remaining, known.Coarse = r.Remaining, r.Coarse
	}
	return true
}

// sane returns a figure between least and maxCount, or Unsaid.
func sane(n, least int64) int64 {
	if n < least {
		return throttle.Unsaid
	}
	return min(n, maxCount)
}

// isFromCache reports whether an answer was kept by a cache on the way.
func isFromCache(h http.Header) bool {
	age := h["Age"]
	return len(age) > 0 && age[0] != "0" || len(h["X-From-Cache"]) > 0
}

// agreed returns what a header's values all say, "" where they differ.
func agreed(values []string) string {
	if len(values) == 0 {
		return ""
	}
	text := strings.TrimSpace(values[0])
	for _, value := range values[1:] {
		if strings.TrimSpace(value) != text {
			return ""
		}
	}
	return text
}

// amount reads a whole number, saturated at maxCount; Unsaid for all else.
func amount(digits string) int64 {
	if digits == "" {
		return throttle.Unsaid
	}
	var n int64
	for i := range len(digits) {
		c := digits[i]
		if c < '0' || c > '9' {
			return throttle.Unsaid
		}
		n = min(n*10+int64(c-'0'), maxCount)
	}
	return n
}
