package dialect

import (
	"net/http"
	"strings"
	"time"

	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// shopify is the Admin API of https://SHOP.myshopify.com. Source: shopify.dev,
// "API limits".
//
// REST and GraphQL are leaky buckets of their own, so they are what is called a
// model: "rest" and "graphql". A query costs points, known once it has run, and
// one too many is answered with 200 and an error that says how full the bucket
// is.
var shopify = &vendor{
	name:       "shopify",
	key:        headerKey("X-Shopify-Access-Token", "Authorization"),
	model:      shopifyAPI,
	byEndpoint: true,

	busyScope: throttle.ScopeKey,
	codes:     []string{shopifyCode},
	figures:   []string{shopifyCost, shopifyAvailable, shopifyRate},
	messages:  []string{"errors", "errors.*.message"},
	signs: []sign{
		{at: shopifyCode, is: "THROTTLED"}, {at: shopifyCode, is: "MAX_COST_EXCEEDED"}, {at: shopifyCode, is: "INTERNAL_SERVER_ERROR"},
	},
	unnamed: throttle.ServerError,
	wait:    shopifyWait,
	rules: []rule{
		{at: shopifyCode, is: []string{"THROTTLED"}, class: throttle.Busy},
		{at: shopifyCode, is: []string{"MAX_COST_EXCEEDED"}, class: throttle.BadRequest}, // never fits
		{status: 423, class: throttle.KeyRefused},                                        // the shop is locked
	},
	reports: []func(*http.Response) []throttle.Report{shopifyReports},
	usage:   []usageField{{role: points, at: []string{"extensions.cost.actualQueryCost"}}},
}

// Where an answer of GraphQL has its error and the state of the bucket.
const (
	shopifyCode      = "errors.*.extensions.code"
	shopifyCost      = "extensions.cost.requestedQueryCost"
	shopifyAvailable = "extensions.cost.throttleStatus.currentlyAvailable"
	shopifyRate      = "extensions.cost.throttleStatus.restoreRate" // points per second
)

// shopifyWait is how long the bucket takes to hold what was asked for.
func shopifyWait(a *answer) (time.Duration, bool) {
	cost, ok1 := a.facts.figure(shopifyCost)
	available, ok2 := a.facts.figure(shopifyAvailable)
	rate, ok3 := a.facts.figure(shopifyRate)
	if !ok1 || !ok2 || !ok3 || !(rate > 0) || !(cost > available) {
		return 0, false
	}
	return seconds((cost - available) / rate)
}

// seconds returns a wait of so many seconds, saturated at pause.MaxHint.
func seconds(s float64) (time.Duration, bool) {
	if !(s > 0) { // or NaN
		return 0, false
	}
	if s >= pause.MaxHint.Seconds() {
		return pause.MaxHint, true
	}
	return max(time.Duration(s*float64(time.Second)), time.Microsecond), true
}

// shopifyReports reads how full the leaky bucket of REST is, "32/40". Its size
// isn't what a limit per second is, so that only what is left is said. GraphQL's
// is in the body, where nobody waits for it.
func shopifyReports(resp *http.Response) []throttle.Report {
	used, size, _ := strings.Cut(agreed(resp.Header["X-Shopify-Shop-Api-Call-Limit"]), "/")
	inIt, fits := amount(used), amount(size)
	if inIt < 0 || fits < 1 {
		return nil
	}
	return []throttle.Report{{
		Unit: throttle.UnitRequests, Per: time.Second, Limit: throttle.Unsaid, Remaining: max(0, fits-inIt),
	}}
}

func shopifyAPI(r *http.Request) string {
	if strings.HasSuffix(r.URL.Path, "/graphql.json") {
		return "graphql"
	}
	return "rest"
}
