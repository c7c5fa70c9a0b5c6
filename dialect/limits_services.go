package dialect

import (
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// TwilioLimits returns an account's limit, which is one of requests that run at
// once, not of their rate (error 20429). What an account is granted isn't
// published; Twilio-Concurrent-Requests in its answers says how many there are.
func TwilioLimits(concurrent int64) []throttle.Limit {
	return some(throttle.InFlight(concurrent))
}

// VonageLimits returns an account's throughput: requests per second.
func VonageLimits(rps int64) []throttle.Limit {
	return some(nearlyFull(throttle.Requests(rps, time.Second)))
}

// PlivoLimits returns an account's limit of requests, 300 in five seconds. A
// number's messages per second are for a budget of its own.
func PlivoLimits() []throttle.Limit {
	return some(throttle.Requests(300, 5*time.Second))
}

// SESLimits returns an account's limits in a region: mails per second, and per
// rolling 24 hours. A request counts as one mail.
func SESLimits(perSecond, perDay int64) []throttle.Limit {
	return some(
		nearlyFull(throttle.Requests(perSecond, time.Second)),
		throttle.Requests(perDay, 24*time.Hour),
	)
}

// SNSLimits returns an account's limit in a region: requests per second.
func SNSLimits(rps int64) []throttle.Limit {
	return some(nearlyFull(throttle.Requests(rps, time.Second)))
}

// WhatsAppLimits returns a business number's throughput: messages per second,
// 80 unless it was raised.
func WhatsAppLimits(perSecond int64) []throttle.Limit {
	return some(nearlyFull(throttle.Requests(perSecond, time.Second)))
}

// StripeLimits returns limits of requests per second: over the whole account
// 100, in a sandbox 25, and for a single endpoint 25 (docs.stripe.com,
// /rate-limits).
func StripeLimits(rps int64) []throttle.Limit {
	return some(nearlyFull(throttle.Requests(rps, time.Second)))
}

// SlackLimits returns a method's limit: calls per minute, by its tier 1, 20, 50
// or 100 (docs.slack.dev, "Rate limits"). Bursts are tolerated there to an
// extent that isn't stated.
func SlackLimits(perMinute int64) []throttle.Limit {
	return some(throttle.Requests(perMinute, time.Minute))
}

// GitHubLimits returns a token's limit for one resource: requests per hour,
// 5000 for most users ("Rate limits for the REST API"). The vendor's window is
// fixed and begins with a token's first request, so this is a sliding one.
func GitHubLimits(perHour int64) []throttle.Limit {
	return some(throttle.Requests(perHour, time.Hour))
}

// ShopifyRESTLimits returns a shop's limit of requests: a leaky bucket of a
// size, 40, that runs out at a rate, 2 per second ("API limits").
func ShopifyRESTLimits(size, perSecond int64) []throttle.Limit {
	return some(throttle.Requests(perSecond, time.Second).Using(throttle.TokenBucket).WithBurst(size))
}

// ShopifyGraphQLLimits returns a shop's limit of points: a leaky bucket of a
// size, 2000 for example, that runs out at a rate, 100 per second. What a query
// costs is known once it has run: state an estimate with Custom.Cost or
// throttle.Call.
func ShopifyGraphQLLimits(size, perSecond int64) []throttle.Limit {
	return some(throttle.Points(perSecond, time.Second).Using(throttle.TokenBucket).WithBurst(size))
}
