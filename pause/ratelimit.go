package pause

import (
	"net/http"
	"strings"
	"time"
)

// RateLimit reads the IETF's rate limit fields in their three generations:
//
//	RateLimit: "permin";r=0;t=23, "day";r=17;t=4000     drafts 08 to 11
//	RateLimit: limit=100, remaining=0, reset=30         draft 07
//	RateLimit-Remaining: 0  and  RateLimit-Reset: 30    up to draft 06
//
// It returns the longest wait of a policy with nothing left. One that has
// something left isn't what the vendor refuses for, and one that doesn't say
// when it is replenished names no wait. Malformed fields are ignored whole.
func RateLimit(h http.Header, now time.Time) (time.Duration, bool) {
	now = VendorNow(h, now)
	// Several lines of a structured field are one value (RFC 9651, 4.2).
	if field := strings.Join(h.Values("RateLimit"), ", "); field != "" {
		return rateLimitField(field, now)
	}
	return rateLimitTriple(h, now)
}

func rateLimitField(field string, now time.Time) (time.Duration, bool) {
	if d, ok := rateLimitList(field, now); ok {
		return d, true
	}
	return rateLimitDictionary(field, now)
}

// rateLimitList reads the structured list of drafts 08 to 11. Its parameters
// are r, the quota left, and t, the seconds to the reset.
func rateLimitList(field string, now time.Time) (time.Duration, bool) {
	items, ok := parseList(field)
	if !ok {
		return 0, false
	}
	var most time.Duration
	for _, item := range items {
		r, hasR := item["r"]
		t, hasT := item["t"]
		if !hasR {
			continue // a stray item, as some put into the policy field
		}
		if !r.isInteger() || hasT && !t.isInteger() {
			return 0, false
		}
		if d, ok := Until(t.text, now); ok && r.isZero() {
			most = max(most, d)
		}
	}
	return bounded(most)
}

// rateLimitDictionary reads draft 07's dictionary, whose three members are all
// required.
func rateLimitDictionary(field string, now time.Time) (time.Duration, bool) {
	members := map[string]value{}
	for member := range strings.SplitSeq(field, ",") {
		key, text, _ := strings.Cut(strings.TrimSpace(member), "=")
		text, _, _ = strings.Cut(text, ";") // no parameter of a member matters here
		members[key] = value{kind: number, text: text}
	}
	for _, key := range []string{"limit", "remaining", "reset"} {
		if !members[key].isInteger() {
			return 0, false
		}
	}
	if !members["remaining"].isZero() {
		return 0, false
	}
	return Until(members["reset"].text, now)
}

// rateLimitTriple reads the three fields up to draft 06. A missing
// RateLimit-Remaining counts as nothing left: the answer was a refusal.
func rateLimitTriple(h http.Header, now time.Time) (time.Duration, bool) {
	if left := h.Get("RateLimit-Remaining"); left != "" {
		if v := (value{kind: number, text: strings.TrimSpace(left)}); !v.isInteger() || !v.isZero() {
			return 0, false
		}
	}
	return Until(h.Get("RateLimit-Reset"), now)
}
