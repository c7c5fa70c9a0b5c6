package pause

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// FromBody returns the wait that an error body names: FromJSON, else FromText.
// The body may be of any type and cut anywhere.
func FromBody(body []byte, now time.Time) (time.Duration, bool) {
	if d, ok := FromJSON(body, now); ok {
		return d, true
	}
	return FromText(string(body))
}

// waitFields are the JSON fields that name a wait, with the unit of a bare
// number. Names are compared without case and underscores.
var waitFields = map[string]time.Duration{
	"retryafter":        time.Second,
	"retryafterseconds": time.Second,
	"retryafterms":      time.Millisecond,
	"retrydelay":        time.Second, // google.rpc.RetryInfo; a duration string
	// Meta's usage headers and error bodies; in minutes.
	"estimatedtimetoregainaccess": time.Minute,
}

// FromJSON returns the longest wait that a field of a JSON text names, at any
// depth: retry_after, retryAfter, retry_after_ms, retryDelay (which is where
// google.rpc.RetryInfo has it) and estimated_time_to_regain_access, which Meta
// counts in minutes. Values are numbers, or strings as Until reads them. A
// text that is cut off counts as far as it goes.
func FromJSON(text []byte, now time.Time) (time.Duration, bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var most time.Duration
	var keys keyTracker
	for {
		token, err := dec.Token()
		if err != nil {
			return bounded(most)
		}
		key := keys.next(token)
		unit, isWait := waitFields[key]
		if !isWait {
			continue
		}
		if d, ok := until(scalarText(token), unit, now); ok {
			most = max(most, d)
		}
	}
}

// scalarText returns the text of a number or string, "" for other tokens.
func scalarText(token json.Token) string {
	switch v := token.(type) {
	case json.Number:
		return v.String()
	case string:
		return v
	}
	return ""
}

// A keyTracker tells which key each token of a JSON text is the value of.
type keyTracker struct {
	open []json.Delim // the objects and arrays around the next token
	key  string
	want bool // the next token of the innermost object is a key
}

// next returns the folded key that the token is the value of, "" for keys,
// brackets and members of arrays.
func (k *keyTracker) next(token json.Token) string {
	if d, isDelim := token.(json.Delim); isDelim {
		if d == '{' || d == '[' {
			k.open = append(k.open, d)
		} else if len(k.open) > 0 {
			k.open = k.open[:len(k.open)-1]
		}
		k.key, k.want = "", true
		return ""
	}
	if len(k.open) == 0 || k.open[len(k.open)-1] != '{' {
		return ""
	}
	if k.want {
		name, _ := token.(string)
		k.key, k.want = foldKey(name), false
		return ""
	}
	k.want = true
	return k.key
}

// foldKey drops what tells snake case from camel case.
func foldKey(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}
