package dialect

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// gitHub is https://api.github.com. Source: docs.github.com, "Rate limits for
// the REST API".
//
// What is called a model is the vendor's rate limit resource and, below it, the
// kind of thing that is asked for: "core/repos/OWNER/NAME/issues",
// "search/code", "graphql". So a budget for "core/*" counts as the vendor does,
// while what a token may not see denies that alone. A limit met pauses the
// whole key.
//
// 403 means three things: the limit, if nothing remains of it; the secondary
// limits, which no header shows; and a permission.
var gitHub = &vendor{
	name:       "github",
	key:        gitHubToken,
	model:      gitHubResource,
	byEndpoint: true,

	busyScope:     throttle.ScopeKey,
	codes:         []string{"errors.*.type"},
	messages:      []string{"message", "documentation_url"},
	figureHeaders: []string{gitHubRemaining},
	signs:         []sign{{at: "errors.*.type", is: "RATE_LIMITED"}}, // of GraphQL
	unnamed:       throttle.Busy,
	wait:          gitHubWait,
	reports:       []func(*http.Response) []throttle.Report{gitHubReports},
	rules: []rule{
		{says: []string{"secondary rate limit"}, class: throttle.Busy, wait: time.Minute}, // with 403 and 429
		{says: []string{"secondary-rate-limit"}, class: throttle.Busy, wait: time.Minute},
		{says: []string{"abuse detection"}, class: throttle.Busy, wait: time.Minute}, // its older name
		{status: 403, at: gitHubRemaining, is: []string{"0"}, class: throttle.Busy},
		{status: 403, says: []string{"rate limit exceeded"}, class: throttle.Busy},
		{status: 403, says: []string{"account", "suspended"}, class: throttle.KeyRefused},
		{status: 403, class: throttle.ModelDenied},
	},
}

const gitHubRemaining = "X-Ratelimit-Remaining"

// gitHubWait is the end of the window, where it is used up.
func gitHubWait(a *answer) (time.Duration, bool) {
	if a.resp.Header.Get(gitHubRemaining) != "0" {
		return 0, false
	}
	return resetInstant(a)
}

// gitHubWindows are those resources whose limits are known to be counted in an
// hour or a minute. GraphQL's are points.
var gitHubWindows = map[string]throttle.Report{
	"core":        {Unit: throttle.UnitRequests, Per: time.Hour},
	"graphql":     {Unit: throttle.UnitPoints, Per: time.Hour},
	"search":      {Unit: throttle.UnitRequests, Per: time.Minute},
	"code_search": {Unit: throttle.UnitRequests, Per: time.Minute},
}

// gitHubReports goes by the resource that the answer names, which is the first
// part of the model, too.
func gitHubReports(resp *http.Response) []throttle.Report {
	resource := agreed(resp.Header["X-Ratelimit-Resource"])
	if resource == "" && resp.Request != nil {
		resource, _, _ = strings.Cut(gitHubResource(resp.Request), "/")
	}
	r, known := gitHubWindows[resource]
	if !known {
		return nil
	}
	s := shown{unit: r.Unit, per: r.Per, limit: "X-Ratelimit-Limit", remaining: gitHubRemaining}
	return []throttle.Report{s.read(resp.Header)}
}

func gitHubToken(r *http.Request) string {
	value := bare(r.Header.Get("Authorization"))
	if scheme, token, ok := strings.Cut(value, " "); ok && strings.EqualFold(scheme, "token") {
		return strings.TrimSpace(token)
	}
	return value
}

func gitHubResource(r *http.Request) string {
	path := strings.Trim(strings.TrimPrefix(r.URL.Path, "/api/v3"), "/")
	segments := strings.Split(path, "/")
	switch {
	case path == "graphql" || path == "api/graphql":
		return "graphql"
	case path == "search/code":
		return "code_search/code"
	case segments[0] == "search":
		return path
	}
	deep := 2 // kind and name
	if slices.Contains([]string{"repos", "orgs", "users", "teams"}, segments[0]) {
		deep = 3
	}
	if segments[0] == "repos" {
		deep = 4 // owner, name and kind
	}
	return strings.TrimSuffix("core/"+strings.Join(segments[:min(deep, len(segments))], "/"), "/")
}
