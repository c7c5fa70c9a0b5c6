package headgate

import (
	"context"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

type callKey struct{}

// WithCall returns a context whose requests are decided as call says: each
// field of it that is set goes before what the dialect and WithAccount read
// from the request, and before an enclosing WithCall. Cost counts as one field:
// if any part of it is set, all of it is the estimate, and nothing is guessed.
func WithCall(ctx context.Context, call throttle.Call) context.Context {
	return context.WithValue(ctx, callKey{}, overlay(callFrom(ctx), call))
}

func callFrom(ctx context.Context) throttle.Call {
	call, _ := ctx.Value(callKey{}).(throttle.Call)
	return call
}

// overlay returns lower with the fields replaced that upper sets.
func overlay(lower, upper throttle.Call) throttle.Call {
	replace(&lower.Key, upper.Key)
	replace(&lower.Account, upper.Account)
	replace(&lower.Model, upper.Model)
	replace(&lower.Tenant, upper.Tenant)
	replace(&lower.Cost, upper.Cost)
	replace(&lower.Lane, upper.Lane)
	return lower
}

// replace sets *field to value, unless value is zero.
func replace[T comparable](field *T, value T) {
	var zero T
	if value != zero {
		*field = value
	}
}

// admit asks the throttle for leave to send a request, waiting until latest at
// most; zero: as long as the request's context allows.
func (t *Transport) admit(c candidate, latest time.Time) (fare, error) {
	call, guess := t.call(c)
	ctx, release := waitContext(c.req)
	defer release()
	if !latest.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, latest)
		defer cancel()
	}
	stated := call.Cost
	if guess != (throttle.Cost{}) {
		// A guess larger than the lane can ever have would be refused for
		// good, although the call itself may well be small.
		call.Cost = t.throttle.Fit(ctx, call, guess)
	}
	permit, err := t.acquire(ctx, call)
	return fare{permit: permit, estimate: call.Cost, stated: stated, guess: guess}, err
}

// call puts together what the throttle is asked, and what of its cost is only
// guessed.
func (t *Transport) call(c candidate) (call throttle.Call, guess throttle.Cost) {
	req, asked := c.req, c.asked
	call = throttle.Call{Account: asked.Account, Model: asked.Model, Cost: asked.Cost}
	if t.account != nil {
		replace(&call.Account, t.account(req))
	}
	said := callFrom(req.Context())
	if said.Cost == (throttle.Cost{}) {
		guess = asked.Guess
	}
	call = overlay(call, said)
	replace(&call.Model, c.backup)
	if call.Key == "" {
		call.Key = throttle.FingerprintOf(asked.Credential)
	}
	return call, guess
}
