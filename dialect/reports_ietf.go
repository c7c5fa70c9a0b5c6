package dialect

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// draftReports reads the IETF's rate limit fields in their three generations:
//
//	RateLimit: "permin";r=20;t=23  RateLimit-Policy: "permin";q=50;w=60    drafts 08 to 11
//	RateLimit: limit=100, remaining=50, reset=30  RateLimit-Policy: 100;w=60    draft 07
//	RateLimit-Limit: 100, 100;w=60  RateLimit-Remaining: 50    up to draft 06
//
// and the last with X- in front of it. Malformed fields are ignored whole, and
// so is a policy that counts something else than requests.
func draftReports(resp *http.Response) []throttle.Report {
	h := resp.Header
	policies := parseField(h, "Ratelimit-Policy")
	if len(h["Ratelimit"]) == 0 {
		return append(tripleReports(h, "Ratelimit-", policies), policyReports(policies, nil)...)
	}
	states := parseField(h, "Ratelimit")
	if slices.ContainsFunc(states, isMember) {
		return dictionaryReports(states, policies)
	}
	return policyReports(policies, states)
}

// draftOrX is draftReports, or what the fields with X- in front say where there
// are none without.
func draftOrX(resp *http.Response) []throttle.Report {
	if all := draftReports(resp); len(all) > 0 {
		return all
	}
	return tripleReports(resp.Header, "X-Ratelimit-", nil)
}

// policyReports returns a report for each policy that has a quota of requests
// and a window, with what is left of it where a state of that name says so.
func policyReports(policies, states []fieldItem) (all []throttle.Report) {
	for _, p := range policies {
		if unit, ok := p.params["qu"]; ok && unit != "requests" {
			continue
		}
		quota, window := p.number("q"), p.window()
		if quota < 1 || window == 0 {
			continue
		}
		r := throttle.Report{Unit: throttle.UnitRequests, Per: window, Limit: quota, Remaining: throttle.Unsaid}
		for _, s := range states {
			if s.name == p.name {
				r.Remaining = s.number("r")
			}
		}
		all = append(all, r)
	}
	return all
}

// isMember reports whether an item is a member of a dictionary: key=value.
func isMember(i fieldItem) bool { return !i.quoted && strings.Contains(i.name, "=") }

// dictionaryReports reads draft 07.
func dictionaryReports(members, policies []fieldItem) []throttle.Report {
	r := throttle.Report{Unit: throttle.UnitRequests, Limit: throttle.Unsaid, Remaining: throttle.Unsaid}
	for _, member := range members {
		switch key, text, _ := strings.Cut(member.name, "="); key {
		case "limit":
			r.Limit = amount(text)
		case "remaining":
			r.Remaining = amount(text)
		}
	}
	if r.Limit < 1 {
		return nil
	}
	r.Per = windowOf(r.Limit, policies)
	return []throttle.Report{r}
}

// tripleReports reads the fields up to draft 06. RateLimit-Limit begins with the
// limit in force, which may be followed by all policies.
func tripleReports(h http.Header, prefix string, policies []fieldItem) []throttle.Report {
	limits := parseField(h, prefix+"Limit")
	if len(limits) == 0 {
		return nil
	}
	limit := amount(limits[0].name)
	if limit < 1 {
		return nil
	}
	return []throttle.Report{{
		Unit: throttle.UnitRequests, Per: windowOf(limit, append(limits, policies...)),
		Limit: limit, Remaining: amount(agreed(h[prefix+"Remaining"])),
	}}
}

// windowOf is the window of the policy that has a limit for its name, as they
// have up to draft 07; 0: none says it, or two differ.
func windowOf(limit int64, policies []fieldItem) (window time.Duration) {
	for _, p := range policies {
		w := p.window()
		if amount(p.name) != limit || w == 0 || w == window {
			continue
		}
		if window != 0 {
			return 0
		}
		window = w
	}
	return window
}

// A fieldItem is a member of a structured field: its name as it stands, without
// quotes, and its parameters.
type fieldItem struct {
	name   string
	quoted bool
	params map[string]string
}

func (i fieldItem) number(key string) int64 { return amount(i.params[key]) }

// window is a policy's, 0 where it has none that a limit can have.
func (i fieldItem) window() time.Duration {
	w := i.number("w") // seconds
	if w < 1 || w > int64(throttle.MaxPer/time.Second) {
		return 0
	}
	return time.Duration(w) * time.Second
}
