package headgateotel

import (
	"errors"

	"github.com/headgate-go/headgate/throttle"
	"go.opentelemetry.io/otel/attribute"
)

const (
	outcomeKey = attribute.Key("headgate.outcome") // admitted, denied or probe
	reasonKey  = attribute.Key("headgate.reason")  // of a denial
	budgetKey  = attribute.Key("headgate.budget")
	laneKey    = attribute.Key("headgate.lane")
	limitKey   = attribute.Key("headgate.limit")       // unit and window, "requests per 1m0s"
	scopeKey   = attribute.Key("headgate.limit.scope") // budget or account
	tokensKey  = attribute.Key("headgate.tokens")      // input or output
	dryRunKey  = attribute.Key("headgate.dry_run")

	waitKey       = attribute.Key("headgate.wait")        // seconds
	retryAfterKey = attribute.Key("headgate.retry_after") // seconds
	classKey      = attribute.Key("headgate.class")       // of the vendor's answer
	pauseScopeKey = attribute.Key("headgate.pause.scope") // model or key
	vendorWaitKey = attribute.Key("headgate.vendor_wait") // seconds
)

// reasonOf returns a denial's reason in one word; "": err is none.
func reasonOf(err error) string {
	var denied *throttle.DeniedError
	if errors.As(err, &denied) {
		return denied.Code()
	}
	return ""
}
