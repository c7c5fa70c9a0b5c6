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

// WithRetries sends a request up to max more times, where that can't have the
// vendor do the work twice:
//
//   - any request that the vendor answered with "busy", or with "overloaded"
//     where it is known to have done nothing (see dialect.JudgeUndone), and any
//     that never left: no connection, no TLS
//   - GET, HEAD, OPTIONS, TRACE, and what has an Idempotency-Key or
//     X-Idempotency-Key header, also after every other "overloaded", a server's
//     error, and a connection that broke
//
// Never: a request whose body has no GetBody, an answer below 400, the probe of
// a refused key, and a request with a signature of AWS (version 4) that would be
// more than four minutes old.
//
// Each retry is a call of its own, admitted and charged like the first. Where
// the answer has paused the model or the account, the retry waits for the end of
// the pause as its lane lets it; so a lane that never waits has no such retries.
// Otherwise it comes half a second after the answer, half more or less at
// random, and twice that each time after, up to 8 s. Either way it leaves no
// earlier than 250 ms after the vendor's own wait has passed. One of more than
// five minutes (30 seconds, where it pauses nothing, or a dry run holds nobody
// back for a pause) isn't waited for, nor any that would outlast the context's deadline. A retry that can't be made leaves
// the caller the vendor's answer, or the base's error, as it was. The end of the
// context and Request.Cancel end every wait at once, with their error.
//
// 0, the default, is none; a negative max fails every request. SDKs have retries
// of their own, which multiply with these: turn one of the two off.
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
// order when the throttle denies a call for want of room, a pause, a denied
// model or a full queue. Not for a refused key, exhausted credit, a store out of
// reach or a closed throttle, which no other model would change, nor for a call
// that is too large, a mistake that a backup would hide.
//
// A call that may wait does so for its own model first, if its turn comes within
// its lane's wait and its deadline; where that can't be, the backups are asked at
// once. Each is a call of its own, with its own estimate, budget and wait. If all
// are denied, the caller gets the denial of the request's own model. A retry
// (WithRetries) goes to a backup, too, unless the first attempt may have
// arrived: that is repeated as it was or not at all. Without retries an answer of
// "busy" goes to the caller, and the calls after it to the backups.
//
// The request's model is replaced where the vendor has it, in the path or in a
// JSON body, and every other byte stays as it is. It can't be, and the denial
// stands, where a body has no GetBody or more than 64 MiB, and where the request
// is signed or has its body's digest in a header. Backups aren't followed to
// theirs. FallbackFrom and the header X-Headgate-Model say which backup served;
// with the request's own model neither does.
//
// Names are exact, and those that the call is decided by (see WithCall). An
// empty name, one with a * in it or that isn't UTF-8, a model that is its own
// backup, one that is named twice, and a dialect whose model is neither in a path
// nor in JSON fail every request. The map is copied. An empty one is none.
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
