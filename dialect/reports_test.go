package dialect_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

const unsaid = throttle.Unsaid

// shows is an exact report.
func shows(unit throttle.Unit, per time.Duration, limit, remaining int64) throttle.Report {
	return throttle.Report{Unit: unit, Per: per, Limit: limit, Remaining: remaining}
}

func requests(per time.Duration, limit, remaining int64) throttle.Report {
	return shows(throttle.UnitRequests, per, limit, remaining)
}

func tokens(per time.Duration, limit, remaining int64) throttle.Report {
	return shows(throttle.UnitTokens, per, limit, remaining)
}

// thousands is a report that was rounded to thousands.
func thousands(r throttle.Report) throttle.Report {
	r.Coarse = 1000
	return r
}

// lines turns "Name: value" lines into pairs, as answer takes them.
func lines(text string) (pairs []string) {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			pairs = append(pairs, name, strings.TrimSpace(value))
		}
	}
	return pairs
}

const minute, hour, daily = time.Minute, time.Hour, 24 * time.Hour

// A reportTest is what one answer's header must be taken for.
type reportTest struct {
	name    string
	dialect dialect.Dialect
	header  string
	want    []throttle.Report
}

// unscoped are reports without their scope, which is their vendor's; see
// TestReportsAreAboutWhatTheVendorPauses.
func unscoped(reports []throttle.Report) []throttle.Report {
	for i := range reports {
		reports[i].Scope = throttle.ScopeNone
	}
	return reports
}

func TestReportsAreAboutWhatTheVendorPauses(t *testing.T) {
	for _, tt := range []struct {
		dialect dialect.Dialect
		header  string
		want    throttle.Scope
	}{
		{dialect.OpenAI, "x-ratelimit-limit-requests: 60", throttle.ScopeModel},
		{dialect.GitHub, "x-ratelimit-limit: 5000\nx-ratelimit-remaining: 10\nx-ratelimit-resource: core", throttle.ScopeKey},
	} {
		got := dialect.Reports(tt.dialect, answer(200, "", lines(tt.header)...))
		if len(got) != 1 || got[0].Scope != tt.want {
			t.Errorf("%s: %+v, want scope %v", tt.dialect.Name(), got, tt.want)
		}
	}
}

func runReports(t *testing.T, tests []reportTest) {
	t.Helper()
	for _, tt := range tests {
		for _, status := range []int{200, 429, 503} {
			got := unscoped(dialect.Reports(tt.dialect, answer(status, "", lines(tt.header)...)))
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s, %s, %d:\n got %+v\nwant %+v", tt.dialect.Name(), tt.name, status, got, tt.want)
			}
		}
	}
}

func TestReportsOfEveryVendorThatShowsItsLimits(t *testing.T) {
	runReports(t, []reportTest{
		{"its guide's table", dialect.OpenAI, `
			x-ratelimit-limit-requests: 60
			x-ratelimit-limit-tokens: 150000
			x-ratelimit-remaining-requests: 59
			x-ratelimit-remaining-tokens: 149984
			x-ratelimit-reset-requests: 1s
			x-ratelimit-reset-tokens: 6m0s`,
			[]throttle.Report{requests(minute, 60, 59), tokens(minute, 150000, 149984)}},
		{"the stricter of organization and project", dialect.OpenAI, `
			x-ratelimit-limit-tokens: 160000
			x-ratelimit-remaining-tokens: 79000
			x-ratelimit-limit-project-tokens: 80000
			x-ratelimit-remaining-project-tokens: 79990`,
			[]throttle.Report{tokens(minute, 80000, 79000)}},
		{"a project with more than its organization", dialect.OpenAI, `
			x-ratelimit-limit-tokens: 160000
			x-ratelimit-remaining-tokens: 79000
			x-ratelimit-limit-project-tokens: 200000
			x-ratelimit-remaining-project-tokens: 199000`,
			[]throttle.Report{tokens(minute, 160000, 79000)}},
		{"used up", dialect.OpenAI, `
			x-ratelimit-limit-requests: 60
			x-ratelimit-remaining-requests: 0
			x-ratelimit-reset-requests: 1m0s`,
			[]throttle.Report{requests(minute, 60, 0)}},
		{"a tier with requests of a day", dialect.OpenAI, `
			x-ratelimit-limit-requests: 10000
			x-ratelimit-remaining-requests: 9999
			x-ratelimit-reset-requests: 8.64s
			x-ratelimit-limit-tokens: 200000
			x-ratelimit-remaining-tokens: 199912
			x-ratelimit-reset-tokens: 26ms`,
			[]throttle.Report{requests(daily, 10000, 9999), tokens(minute, 200000, 199912)}},
		{"requests of ten seconds", dialect.AzureOpenAI, `
			x-ratelimit-limit-requests: 20
			x-ratelimit-remaining-requests: 19
			x-ratelimit-limit-tokens: 20000
			x-ratelimit-remaining-tokens: 19500
			x-ratelimit-reset-tokens: 55`,
			[]throttle.Report{requests(10*time.Second, 20, 19), tokens(minute, 20000, 19500)}},
		{"in place of figures", dialect.AzureOpenAI, `
			x-ratelimit-limit-tokens: -1
			x-ratelimit-remaining-tokens: -1
			x-ratelimit-reset-tokens: 0`, nil},
		{"all of its quotas", dialect.Anthropic, `
			anthropic-ratelimit-requests-limit: 50
			anthropic-ratelimit-requests-remaining: 49
			anthropic-ratelimit-requests-reset: 2026-01-01T00:00:01Z
			anthropic-ratelimit-tokens-limit: 50000
			anthropic-ratelimit-tokens-remaining: 0
			anthropic-ratelimit-input-tokens-limit: 40000
			anthropic-ratelimit-input-tokens-remaining: 39000
			anthropic-ratelimit-output-tokens-limit: 8000
			anthropic-ratelimit-output-tokens-remaining: 8000
			anthropic-priority-input-tokens-limit: 10000
			anthropic-priority-input-tokens-remaining: 0
			anthropic-fast-output-tokens-limit: 10
			anthropic-fast-output-tokens-remaining: 0
			anthropic-ratelimit-unified-5h-utilization: 0.99`,
			[]throttle.Report{
				requests(minute, 50, 49),
				thousands(shows(throttle.UnitInputTokens, minute, 40000, 39000)),
				thousands(shows(throttle.UnitOutputTokens, minute, 8000, 8000)),
			}},
		{"by size", dialect.Mistral, `
			x-ratelimitbysize-limit-minute: 500000
			x-ratelimitbysize-remaining-minute: 499000
			x-ratelimitbysize-limit-month: 1000000000
			x-ratelimitbysize-remaining-month: 999000000
			ratelimitbysize-limit: 500000
			ratelimitbysize-remaining: 0
			ratelimitbysize-reset: 37
			ratelimitbysize-query-cost: 1000`,
			[]throttle.Report{tokens(minute, 500000, 499000), tokens(30*daily, 1000000000, 999000000)}},
		{"its newer names, and a model that isn't in the plan", dialect.Mistral, `
			x-ratelimit-limit-tokens-minute: 50000
			x-ratelimit-remaining-tokens-minute: 47300
			x-ratelimit-limit-req-minute: 0
			x-ratelimit-remaining-req-minute: 0`,
			[]throttle.Report{tokens(minute, 50000, 47300)}},
		{"requests are a day's", dialect.Groq, `
			x-ratelimit-limit-requests: 14400
			x-ratelimit-limit-tokens: 18000
			x-ratelimit-remaining-requests: 14370
			x-ratelimit-remaining-tokens: 17997
			x-ratelimit-reset-requests: 2m59.56s
			x-ratelimit-reset-tokens: 7.66s`,
			[]throttle.Report{requests(daily, 14400, 14370), tokens(minute, 18000, 17997)}},
		{"without resets", dialect.XAI, `
			x-ratelimit-limit-requests: 480
			x-ratelimit-limit-tokens: 2000000
			x-ratelimit-remaining-requests: 479
			x-ratelimit-remaining-tokens: 1999990`,
			[]throttle.Report{requests(minute, 480, 479), tokens(minute, 2000000, 1999990)}},
		{"the dynamic rate holds", dialect.Together, `
			x-ratelimit-limit: 10
			x-ratelimit-remaining: 9
			x-ratelimit-reset: 0.0001
			x-ratelimit-limit-dynamic: 12
			x-ratelimit-remaining-dynamic: 11
			x-tokenlimit-limit: 2000
			x-tokenlimit-remaining: 1999`,
			[]throttle.Report{requests(time.Second, 12, 11), tokens(time.Second, 2000, 1999)}},
		{"limits alone", dialect.Fireworks, `
			X-Ratelimit-Limit-Tokens-Prompt: 3600000
			X-Ratelimit-Limit-Tokens-Generated: 36000
			X-Ratelimit-Limit-Tokens-Cache-Adjusted-Prompt: 5`,
			[]throttle.Report{
				shows(throttle.UnitInputTokens, minute, 3600000, unsaid),
				shows(throttle.UnitOutputTokens, minute, 36000, unsaid),
			}},
		{"the Hub", dialect.HuggingFace, `
			RateLimit: "api";r=0;t=12
			RateLimit-Policy: "fixed window";"api";q=1000;w=300`,
			[]throttle.Report{requests(5*minute, 1000, 0)}},
		{"the router", dialect.HuggingFace, `
			x-ratelimit-limit-requests: 600
			x-ratelimit-remaining-requests: 599
			x-ratelimit-reset-requests: 100ms
			x-ratelimit-reset-tokens: 1ms`,
			[]throttle.Report{requests(minute, 600, 599)}},
		{"an endpoint's, of an unknown window", dialect.SendGrid, `
			X-RateLimit-Limit: 600
			X-RateLimit-Remaining: 599
			X-RateLimit-Reset: 1767225690`,
			[]throttle.Report{requests(0, 600, unsaid)}},
		{"core", dialect.GitHub, `
			x-ratelimit-limit: 5000
			x-ratelimit-remaining: 4999
			x-ratelimit-used: 1
			x-ratelimit-reset: 1767225690
			x-ratelimit-resource: core`,
			[]throttle.Report{requests(hour, 5000, 4999)}},
		{"search", dialect.GitHub, `
			x-ratelimit-limit: 30
			x-ratelimit-remaining: 0
			x-ratelimit-resource: search`,
			[]throttle.Report{requests(minute, 30, 0)}},
		{"GraphQL", dialect.GitHub, `
			x-ratelimit-limit: 5000
			x-ratelimit-remaining: 4000
			x-ratelimit-resource: graphql`,
			[]throttle.Report{shows(throttle.UnitPoints, hour, 5000, 4000)}},
		{"a resource that isn't known", dialect.GitHub, `
			x-ratelimit-limit: 100
			x-ratelimit-remaining: 0
			x-ratelimit-resource: dependency_snapshots`, nil},
		{"nobody says which resource", dialect.GitHub, `
			x-ratelimit-limit: 5000
			x-ratelimit-remaining: 0`, nil},
		{"a leaky bucket", dialect.Shopify, `X-Shopify-Shop-Api-Call-Limit: 32/40`, []throttle.Report{requests(time.Second, unsaid, 8)}},
		{"more than full", dialect.Shopify, `X-Shopify-Shop-Api-Call-Limit: 41/40`, []throttle.Report{requests(time.Second, unsaid, 0)}},
		{"no bucket", dialect.Shopify, `X-Shopify-Shop-Api-Call-Limit: 40`, nil},
		{"Kong", dialect.Generic, `
			X-RateLimit-Limit-Minute: 20
			X-RateLimit-Remaining-Minute: 18
			X-RateLimit-Limit-Day: 1000
			X-RateLimit-Remaining-Day: 900`,
			[]throttle.Report{requests(minute, 20, 18), requests(daily, 1000, 900)}},
	})
}

func TestVendorsThatShowNothingReportNothing(t *testing.T) {
	header := `
		x-ratelimit-limit-requests: 60
		x-ratelimit-remaining-requests: 0
		Twilio-Concurrent-Requests: 101
		X-App-Usage: {"call_count":100,"total_time":25,"total_cputime":25}
		Stripe-Rate-Limited-Reason: global-rate`
	for _, d := range []dialect.Dialect{
		dialect.DeepSeek, dialect.Cohere, dialect.OpenRouter, dialect.Perplexity, dialect.Gemini, dialect.Vertex, dialect.Bedrock,
		dialect.Twilio, dialect.Stripe, dialect.Slack, dialect.MetaGraph, dialect.WhatsApp,
	} {
		runReports(t, []reportTest{{"of others", d, header, nil}})
	}
}

// GitHub's older servers don't name the resource; the request does.
func TestGitHubsRequestNamesTheResource(t *testing.T) {
	for path, want := range map[string]throttle.Report{
		"/search/issues":  requests(minute, 30, 2),
		"/search/code":    requests(minute, 30, 2),
		"/repos/a/b/pull": requests(hour, 30, 2),
		"/graphql":        shows(throttle.UnitPoints, hour, 30, 2),
	} {
		resp := answer(200, "", "X-RateLimit-Limit", "30", "X-RateLimit-Remaining", "2")
		resp.Request, _ = http.NewRequest("GET", "https://api.github.com"+path, nil)
		if got := unscoped(dialect.Reports(dialect.GitHub, resp)); !slices.Equal(got, []throttle.Report{want}) {
			t.Errorf("%s: %+v, want %+v", path, got, want)
		}
	}
}
