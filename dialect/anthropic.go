package dialect

import "github.com/headgate-go/headgate/throttle"

// anthropic is https://api.anthropic.com. Sources: its API documentation, the
// pages "Rate limits" and "Errors", and anthropic-sdk-go.
//
// max_tokens isn't charged: output tokens per minute count what is really put
// out. So it only bounds the guess. anthropic-ratelimit-*-reset are instants of
// full replenishment, and ignored.
var anthropic = &vendor{
	name:      "anthropic",
	key:       headerKey("X-Api-Key", "Authorization"),
	modelAt:   "model",
	caps:      []string{"max_tokens", "max_tokens_to_sample"},
	tokens:    true,
	inputOnly: []string{"/count_tokens", "/batches"},

	busyScope: throttle.ScopeModel,
	codes:     []string{"error.details.error_code", "error.type"},
	messages:  []string{"error.message"},
	rules:     anthropicRules,
	signs:     []sign{anError}, // events of a stream
	unnamed:   throttle.ServerError,
	usage:     anthropicUsage,
	shown:     anthropicShown,
}

var anthropicRules = []rule{
	{at: "error.details.error_code", is: []string{"enforced_spend_limit_reached"}, class: throttle.CreditExhausted},
	{at: "error.type", is: []string{"billing_error"}, class: throttle.CreditExhausted},
	{at: "error.type", is: []string{"overloaded_error"}, class: throttle.Overloaded},
	{at: "error.type", is: []string{"rate_limit_error"}, class: throttle.Busy},
	{at: "error.type", is: []string{"authentication_error"}, says: []string{"cors requests are not allowed"}, class: throttle.BadRequest},
	{at: "error.type", is: []string{"authentication_error"}, class: throttle.KeyRefused},
	{says: []string{"organization has been disabled"}, class: throttle.KeyRefused}, // with 400 and 403
	{at: "error.type", is: []string{"permission_error", "not_found_error"}, class: throttle.ModelDenied},

	{status: 400, says: []string{"credit balance is too low"}, class: throttle.CreditExhausted},
	{status: 400, says: []string{"you have reached your", "usage limits"}, class: throttle.CreditExhausted},
}

// anthropicUsage: the three kinds of input are counted apart. In a stream, the
// event message_start has those counts within its message; message_delta has
// running totals.
var anthropicUsage = under([]string{"usage", "message.usage"},
	usageField{role: partOfInput, at: []string{"input_tokens"}},
	usageField{role: partOfInput, at: []string{"cache_creation_input_tokens"}},
	usageField{role: cachedPart, at: []string{"cache_read_input_tokens"}},
	usageField{role: allOutput, at: []string{"output_tokens"}},
)
