package dialect

import (
	"net/http"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// stripe is https://api.stripe.com. Sources: docs.stripe.com/rate-limits and
// /error-handling, and stripe-go.
//
// What is called a model is an endpoint with its method, "POST
// /v1/customers/:id/sources": a limit may be one's alone, and a restricted key
// is denied some. 402 is never about the caller's own credit: it is the card of
// his customer.
var stripe = &vendor{
	name:       "stripe",
	key:        headerKey("Authorization"),
	model:      stripeEndpoint,
	byEndpoint: true,

	busyScope:   throttle.ScopeKey,
	codes:       []string{"error.code", "error.type"},
	messages:    []string{"error.message"},
	codeHeaders: []string{stripeReason},
	rules: []rule{
		{status: 402, class: throttle.BadRequest},
		{at: "error.type", is: []string{"card_error"}, class: throttle.BadRequest},
		{at: stripeReason, is: []string{"resource-specific"}, class: throttle.Busy, about: theRequest}, // one object
		{at: stripeReason, is: []string{"endpoint-rate", "endpoint-concurrency"}, class: throttle.Busy, about: theModel},
		{at: stripeReason, is: []string{"global-rate", "global-concurrency"}, class: throttle.Busy},
		{at: "error.code", is: []string{"lock_timeout"}, class: throttle.Busy, about: theRequest},
		{at: "error.code", is: []string{"api_key_expired"}, class: throttle.KeyRefused},
		{status: 403, class: throttle.ModelDenied},
	},
}

const stripeReason = "Stripe-Rate-Limited-Reason"

// stripeEndpoint returns the method and the path, with ":id" for what looks
// like an object's id: a segment with a digit or capital, such as cus_Nf1.
func stripeEndpoint(r *http.Request) string {
	segments := strings.Split(r.URL.Path, "/")
	for i, segment := range segments {
		if i > 1 && strings.ContainsAny(segment, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			segments[i] = ":id"
		}
	}
	return methodOf(r) + " " + strings.Join(segments, "/")
}

// methodOf returns a request's method; the empty one is GET.
func methodOf(r *http.Request) string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}
