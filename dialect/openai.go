package dialect

import "github.com/headgate-go/headgate/throttle"

// openAI is https://api.openai.com. Sources: its guides rate-limits,
// error-codes and prompt-caching, and openai-go's requestconfig.
//
// Tokens per minute count the cap of the output up front, and the input as
// estimated from its characters, what is cached included. x-ratelimit-reset-*
// are the time to a full refill, which says nothing about when to come back,
// so they are ignored.
var openAI = &vendor{
	name:    "openai",
	key:     headerKey("Authorization"),
	modelAt: "model",
	// Two at once contradict each other; the vendor may go by either.
	caps:     []string{"max_tokens", "max_completion_tokens", "max_output_tokens"},
	choices:  []string{"n", "best_of"},
	reserves: true,
	tokens:   true,
	inputOnly: []string{
		"/embeddings", "/moderations", "/images", "/audio", "/files", "/uploads", "/batches", "/fine_tuning", "/vector_stores",
	},

	busyScope: throttle.ScopeModel,
	codes:     []string{"error.code", "error.type", "response.error.code", "code"},
	messages:  []string{"error.message", "response.error.message", "message"},
	rules:     openAIRules,
	// In chunks and events of a stream; the last two are the responses API's.
	signs:   []sign{anError, {at: "response.error"}, {at: "type", is: "error"}},
	unnamed: throttle.ServerError,
	usage:   openAIUsage,
	shown:   openAIShown,
}

var openAIRules = []rule{
	{at: "code", is: []string{
		"insufficient_quota", "credit_balance_exhausted",
		"organization_spend_limit_exceeded", "organization_usage_limit_exceeded",
		"project_spend_limit_exceeded", // a key belongs to one project
		"billing_not_active", "billing_hard_limit_reached",
	}, class: throttle.CreditExhausted},
	{at: "error.type", is: []string{"insufficient_quota", "billing_not_active"}, class: throttle.CreditExhausted},
	{at: "code", is: []string{"invalid_api_key", "account_deactivated", "unsupported_country_region_territory"}, class: throttle.KeyRefused},
	{at: "code", is: []string{"model_not_found"}, class: throttle.ModelDenied},
	{at: "code", is: []string{"content_policy_violation", "content_filter"}, class: throttle.BadRequest},
	// One that can never fit has the code of one that came too early.
	{at: "code", is: []string{"rate_limit_exceeded"}, says: []string{"request too large"}, class: throttle.BadRequest},
	{at: "code", is: []string{"server_is_overloaded"}, class: throttle.Overloaded},
	{at: "error.type", is: []string{"service_unavailable_error"}, class: throttle.Overloaded},
	{status: 429, says: []string{"resource unavailable"}, class: throttle.Overloaded, undone: true}, // flex processing
	{at: "code", is: []string{"rate_limit_exceeded", "slow_down"}, class: throttle.Busy},

	{status: 429, says: []string{"request too large"}, class: throttle.BadRequest},
	{status: 429, says: []string{"exceeded your current quota"}, class: throttle.CreditExhausted},
	{status: 403, says: []string{"country", "not supported"}, class: throttle.KeyRefused},
	deniedAccess,
	deniedModel,
}

// openAIUsage is that of the chat, completions, embeddings and responses APIs.
// Their input includes what was cached. A stream of chunks has it in its last
// one, if asked for, and null in the others; a stream of the responses API in
// the response that its last event has; Groq's also in a part of its own.
var openAIUsage = under([]string{"usage", "response.usage", "x_groq.usage"},
	usageField{role: allInput, at: []string{"prompt_tokens", "input_tokens"}},
	usageField{role: allOutput, at: []string{"completion_tokens", "output_tokens"}},
	usageField{role: cachedInput, at: []string{"prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens"}},
	usageField{role: allTokens, at: []string{"total_tokens"}},
)
