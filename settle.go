package headgate

import (
	"net/http"

	"github.com/headgate-go/headgate/throttle"
)

// A fare is what an admitted call has been charged, until its end is known.
type fare struct {
	permit   throttle.Permit
	estimate throttle.Cost // of which this was
	stated   throttle.Cost // certain, and this
	guess    throttle.Cost // guessed, before it was fitted; zero: there is nothing to be learned
	refund   bool          // give tokens and money back, if no usage says otherwise
}

// An ending says how much of an answer there was to read usage from.
type ending uint8

const (
	whole ending = iota // to its end
	cut                 // closed early, broken off, or the context ended
)

// end settles the fare: usage is what the answer named as its cost, where it
// named any.
func (f fare) end(how ending, usage throttle.Cost, known bool) {
	switch {
	case known && how == whole:
		f.permit.Learn(f.stated, f.guess, usage)
		f.permit.Settle(usage)
	case known:
		f.permit.Settle(atLeast(f.estimate, usage))
	case f.refund:
		f.permit.Settle(throttle.Cost{}) // the request itself stays charged
	default:
		f.permit.Done()
	}
}

// refunds reports whether an answer without usage shows that nothing was
// generated. A request that was turned down, or sent elsewhere, cost a request
// and no tokens. A server that failed may have finished the work before, and
// vendors count a call that they answer with "busy".
func refunds(status int, class throttle.Class) bool {
	switch class {
	case throttle.BadRequest, throttle.KeyRefused, throttle.CreditExhausted, throttle.ModelDenied:
		return true
	case throttle.OK:
		return status >= http.StatusMultipleChoices && status < http.StatusInternalServerError
	}
	return false
}

// atLeast returns what a call that was cut off has cost at least. What was seen
// of its usage is a lower bound, and the vendor goes on generating and counting
// after the caller has left, so the estimate stands where it is higher.
func atLeast(estimate, seen throttle.Cost) throttle.Cost {
	seen.Requests = higher(estimate.Requests, seen.Requests)
	seen.InputTokens = higher(estimate.InputTokens, seen.InputTokens)
	seen.OutputTokens = higher(estimate.OutputTokens, seen.OutputTokens)
	seen.Points = higher(estimate.Points, seen.Points)
	seen.MicroUSD = higher(estimate.MicroUSD, seen.MicroUSD)
	return seen // CachedTokens lower a price: as seen
}

// higher returns the larger of the two, and seen where that is unknown: the
// throttle's own estimate stays then, which may come from a price.
func higher(estimate, seen int64) int64 {
	if seen < 0 {
		return seen
	}
	return max(estimate, seen)
}
