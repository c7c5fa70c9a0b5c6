package dialect

import (
	"time"

	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// Vendors of messages that answer with plain statuses and know no models. Their
// limits are the account's.

// messageBird is https://rest.messagebird.com, and Bird. Its errors are a list
// with a code each.
var messageBird = &vendor{
	name:      "messagebird",
	key:       headerKey("Authorization"), // "AccessKey …"
	busyScope: throttle.ScopeKey,
	codes:     []string{"errors.*.code"},
	messages:  []string{"errors.*.description"},
	rules: []rule{
		{at: "errors.*.code", is: []string{"2"}, class: throttle.KeyRefused}, // with 401 and 422
		{at: "errors.*.code", is: []string{"25"}, class: throttle.CreditExhausted},
	},
}

// plivo is https://api.plivo.com: 300 requests in five seconds for an account,
// and messages per second for a number. So what is called a model is the number
// that sends.
var plivo = &vendor{
	name:      "plivo",
	key:       headerKey("Authorization"),
	modelAt:   "src",
	forms:     true,
	busyScope: throttle.ScopeKey,
	messages:  []string{"error"},
}

// sinch is https://sms.api.sinch.com and its sisters. Source:
// developers.sinch.com, its registry of errors: problem details (RFC 7807), and
// a 401 may have no body.
var sinch = &vendor{
	name:      "sinch",
	key:       headerKey("Authorization"),
	busyScope: throttle.ScopeKey,
	codes:     []string{"code"},
	messages:  []string{"detail", "message", "error"},
}

// sendGrid is https://api.sendgrid.com. It answers 401 both to a bad key and to
// a good one without credits. Its limits are those of an endpoint, but a
// limit met pauses all of them: which endpoints share one isn't documented.
var sendGrid = &vendor{
	name:      "sendgrid",
	key:       headerKey("Authorization"),
	busyScope: throttle.ScopeKey,
	messages:  []string{"errors.*.message"},
	rules: []rule{
		{says: []string{"maximum credits exceeded"}, class: throttle.CreditExhausted},
	},
	wait:  resetInstant,
	shown: sendGridShown,
}

// mailgun is https://api.mailgun.net. Its 401 is plain text.
var mailgun = &vendor{
	name:      "mailgun",
	key:       headerKey("Authorization"),
	busyScope: throttle.ScopeKey,
	messages:  []string{"message"},
}

// resetInstant reads X-RateLimit-Reset as the end of the window in unix
// seconds, which is what it is at some vendors.
func resetInstant(a *answer) (time.Duration, bool) {
	return pause.UntilInstant(a.resp.Header.Get("X-Ratelimit-Reset"), pause.VendorNow(a.resp.Header, a.now))
}
