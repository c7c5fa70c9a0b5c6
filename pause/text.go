package pause

import (
	"strings"
	"time"
)

// phrases come before the wait in what vendors write for people, such as
// "Please try again in 644ms." and "Please retry after 45 seconds."
var phrases = []string{"try again in", "retry in", "retry after", "try again after", "please wait"}

// wordUnits are what people write, beside the units of durations.
var wordUnits = withWords(units)

func withWords(units map[string]time.Duration) map[string]time.Duration {
	all := map[string]time.Duration{
		"sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
		"min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
		"hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
		"day": 24 * time.Hour, "days": 24 * time.Hour,
		"millisecond": time.Millisecond, "milliseconds": time.Millisecond,
	}
	for name, unit := range units {
		all[name] = unit
	}
	return all
}

// maxPhrases and maxSpoken bound the search in a hostile text: how many
// phrases are tried, and how many bytes after one are looked at.
const (
	maxPhrases = 16
	maxSpoken  = 64
)

// FromText returns the wait that a text for people names: a duration, or
// numbers with units in words, after one of "try again in", "retry in", "retry
// after", "try again after" and "please wait". The first such place decides,
// of the first 16. A number without a unit isn't read: texts say "retry after
// 2026" too.
func FromText(text string) (time.Duration, bool) {
	text = strings.ToLower(text)
	for range maxPhrases {
		at, after := nextPhrase(text)
		if at < 0 {
			return 0, false
		}
		text = text[after:]
		if d, ok := spokenDuration(text[:min(len(text), maxSpoken)]); ok {
			return d, true
		}
	}
	return 0, false
}

// nextPhrase returns where the first phrase begins and ends, -1 for none.
func nextPhrase(text string) (at, after int) {
	at = -1
	for _, phrase := range phrases {
		if i := strings.Index(text, phrase); i >= 0 && (at < 0 || i < at) {
			at, after = i, i+len(phrase)
		}
	}
	return at, after
}

// spokenDuration reads "9m38.016s", "45 seconds", "1 minute 30 seconds" or "1
// hour and 5 minutes" from the front of a text in lower case.
func spokenDuration(text string) (time.Duration, bool) {
	var sum time.Duration
	for {
		text = strings.TrimLeft(text, " \t:,")
		text = strings.TrimPrefix(text, "and ")
		d, rest, ok := cutDuration(joinUnit(text), wordUnits)
		if !ok {
			return bounded(sum)
		}
		sum, text = min(sum+d, MaxHint), rest
	}
}

// joinUnit drops the blank between the number and the unit at the front.
func joinUnit(text string) string {
	number := len(text) - len(strings.TrimLeft(text, "0123456789."))
	if number > 0 && number < len(text) && text[number] == ' ' {
		return text[:number] + text[number+1:]
	}
	return text
}
