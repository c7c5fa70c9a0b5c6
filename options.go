package headgate

import (
	"fmt"
	"net/http"
)

// An Option changes how NewTransport wires a Transport. A nil Option is
// ignored.
type Option func(*options)

type options struct {
	base      http.RoundTripper
	account   func(*http.Request) string
	retries   int
	responses bool
	fallbacks map[string][]string
}

// WithBase sends through rt. nil: http.DefaultTransport.
func WithBase(rt http.RoundTripper) Option {
	return func(o *options) { o.base = rt }
}

// WithAccount says who pays for a request, where several keys share one quota:
// their budgets and pauses are then one. The name appears in the store and in
// events, so it must not be a credential. Where account returns "", the account
// that the dialect reads counts, else the key itself. It is called from many
// goroutines and must neither change the request nor read its body. nil: as if
// it returned "".
func WithAccount(account func(*http.Request) string) Option {
	return func(o *options) { o.account = account }
}

// WithRetries sends a request up to max more times where that is safe. 0, the
// default, is none, and all that this version has: with any other number every
// request fails.
func WithRetries(max int) Option {
	return func(o *options) { o.retries = max }
}

// WithDeniedResponses turns a denial into a response instead of an error, for
// SDKs that retry errors but obey a response: status 429 with x-should-retry:
// false, Retry-After in whole seconds where the wait is known, and a JSON body
// with an error object; 413 for a call that is too large ever to go. DeniedFrom
// tells it from a vendor's answer. Once the request's context has ended, the
// denial is an error all the same.
func WithDeniedResponses() Option {
	return func(o *options) { o.responses = true }
}

// WithFallbacks names backup models of the same vendor for each model, tried in
// order when a call is denied. An empty map is none, and all that this version
// has: with any other map every request fails.
func WithFallbacks(models map[string][]string) Option {
	return func(o *options) { o.fallbacks = copyFallbacks(models) }
}

// validate reports the first option that can't be had.
func (o *options) validate() error {
	if o.retries < 0 {
		return fmt.Errorf("headgate: WithRetries(%d): want 0 or more", o.retries)
	}
	return validFallbacks(o.fallbacks)
}
