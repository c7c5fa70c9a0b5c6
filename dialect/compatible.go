package dialect

import (
	"net/http"
	"strings"
	"time"

	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// likeOpenAI returns a vendor whose API is OpenAI's, changed where it differs.
// Unlike OpenAI, none of them is taken to charge the cap of the output up
// front, or to show its limits in the same headers, and a 404 is a model that
// doesn't exist or isn't for this key: they have no code for it.
func likeOpenAI(name string, change func(*vendor)) *vendor {
	v := *openAI
	v.name, v.reserves, v.shown = name, false, nil
	v.messages = []string{"error.message", "message", "error", "detail"}
	change(&v)
	v.rules = in(v.rules, openAIRules, []rule{{status: 404, class: throttle.ModelDenied}})
	return &v
}

// mistral is https://api.mistral.ai. Sources: docs.mistral.ai, "Rate limits",
// and its errors as reported in public.
var mistral = likeOpenAI("mistral", func(v *vendor) {
	v.codes = []string{"type", "code"}
	v.shown = mistralShown
	v.rules = []rule{
		{at: "type", is: []string{"service_tier_capacity_exceeded"}, class: throttle.Overloaded, undone: true},
		{at: "code", is: []string{"3505"}, class: throttle.Overloaded, undone: true},
		{at: "code", is: []string{"1300"}, class: throttle.Busy},
		{at: "type", is: []string{"rate_limited"}, class: throttle.Busy},
	}
})

// groq is https://api.groq.com. Sources: console.groq.com/docs, "Rate limits"
// and "Errors".
var groq = likeOpenAI("groq", func(v *vendor) {
	v.reserves = true
	v.shown = groqShown
	v.rules = []rule{
		// It has the code of a request that came too early, but never fits.
		{status: 413, class: throttle.BadRequest},
		{at: "code", is: []string{"organization_restricted"}, class: throttle.KeyRefused},         // with 400 and 403
		{at: "code", is: []string{"capacity_exceeded"}, class: throttle.Overloaded, undone: true}, // flex processing
		{status: 498, class: throttle.Overloaded, undone: true},
	}
})

// deepSeek is https://api.deepseek.com. Source: its page "Error Codes": the
// status says it all, and the codes say less.
var deepSeek = likeOpenAI("deepseek", func(*vendor) {})

// xAI is https://api.x.ai. Sources: docs.x.ai, "Rate limits", and its errors as
// reported in public: "error" is a text and "code" a phrase, the same one for
// a wrong key as for a wrong argument.
var xAI = likeOpenAI("xai", func(v *vendor) {
	v.codes = []string{"code", "error.code"}
	v.shown = xAIShown
	v.rules = []rule{
		{says: []string{"incorrect api key provided"}, class: throttle.KeyRefused}, // with 400
		{says: []string{"used all available credits"}, class: throttle.CreditExhausted},
		{says: []string{"monthly spending limit"}, class: throttle.CreditExhausted}, // with 403 and 429
		{status: 403, class: throttle.ModelDenied},
	}
})

// openRouter is https://openrouter.ai. Source: its page "Errors and
// Debugging". It reserves the cost of the output's cap against the balance. An
// answer of 200 has an error in it once the provider had begun.
var openRouter = likeOpenAI("openrouter", func(v *vendor) {
	v.reserves = true
	v.codes = []string{"error.metadata.limit_source", "error.metadata.reason", "error.reason", "error.code", "error.type", "choices.*.error.code"}
	v.figures = []string{openRouterReset}
	v.signs = append(v.signs[:len(v.signs):len(v.signs)], sign{at: "choices.*.error"})
	v.wait = openRouterWait
	v.rules = []rule{
		{at: "reason", is: []string{"weight_exceeds_budget"}, class: throttle.BadRequest}, // this request alone
		{at: "reason", is: []string{"in_flight_budget_exhausted"}, class: throttle.Busy, about: theKey},
		{at: "error.metadata.limit_source", is: []string{"openrouter_in_flight_budget"}, class: throttle.Busy, about: theKey},
		{at: "error.metadata.limit_source", is: []string{"openrouter_credits", "openrouter_key_limit"}, class: throttle.CreditExhausted},
		{at: "error.metadata.limit_source", is: []string{"openrouter_free_tier_*"}, class: throttle.Busy, about: theKey},
		{status: 429, says: []string{"free-models-per-"}, class: throttle.Busy, about: theKey}, // all of the free ones
		{status: 403, class: throttle.BadRequest},                                              // moderation
		// A provider that breaks off: this model's trouble.
		{within: true, at: "code", is: []string{"500-502", "504-528", "530-599"}, class: throttle.ServerError, about: theModel},
		{status: 502, class: throttle.Overloaded},
		{status: 503, says: []string{"no available model provider"}, class: throttle.Overloaded, undone: true},
	}
})

// openRouterReset is where the body of an answer has a header of it.
const openRouterReset = "error.metadata.headers.X-RateLimit-Reset"

// openRouterWait reads an instant in unix milliseconds.
func openRouterWait(a *answer) (time.Duration, bool) {
	return pause.UntilInstant(a.facts.code(openRouterReset), pause.VendorNow(a.resp.Header, a.now))
}

// together is https://api.together.ai. Source: docs.together.ai, "Rate
// limits": the rate follows recent successes; above it the answer is 429, below
// it, where the platform is at fault, 503.
var together = likeOpenAI("together", func(v *vendor) { v.shown = togetherShown })

// fireworks is https://api.fireworks.ai. Sources: docs.fireworks.ai,
// "Inference error codes" and "Serverless rate limits".
var fireworks = likeOpenAI("fireworks", func(v *vendor) {
	v.shown = fireworksShown
	v.rules = []rule{
		{status: 403, class: throttle.KeyRefused},
		{status: 412, class: throttle.KeyRefused}, // the account is suspended
	}
})

// perplexity is https://api.perplexity.ai. Its limits are a key's, not a
// model's.
var perplexity = likeOpenAI("perplexity", func(v *vendor) {
	v.busyScope = throttle.ScopeKey
	v.rules = overloadedModel
})

// huggingFace is https://huggingface.co and its router of inference providers.
// Source: its documentation, "Hub rate limits": a limit is the user's, and
// RateLimit says until when. A model that is still being loaded is overloaded.
var huggingFace = likeOpenAI("huggingface", func(v *vendor) {
	v.model, v.setModel = huggingFaceModel, huggingFaceSetModel
	v.caps = append(v.caps[:len(v.caps):len(v.caps)], "parameters.max_new_tokens")
	v.busyScope = throttle.ScopeKey
	v.figures = []string{"estimated_time"}
	v.shown = openAIShown // of the router, which passes a provider's on
	v.reports = []func(*http.Response) []throttle.Report{draftReports}
	v.wait = func(a *answer) (time.Duration, bool) {
		return pause.Until(a.facts.code("estimated_time"), a.now) // seconds
	}
	v.rules = in([]rule{
		{status: 403, says: []string{"sufficient permissions", "inference providers"}, class: throttle.KeyRefused},
		{status: 503, at: "estimated_time", is: []string{"*"}, class: throttle.Overloaded, about: theModel, undone: true}, // being loaded
	}, overloadedModel)
})

// overloadedModel is for vendors whose limits are a key's: what is overloaded
// is a model nevertheless.
var overloadedModel = []rule{
	{status: 503, class: throttle.Overloaded, about: theModel},
	{status: 529, class: throttle.Overloaded, about: theModel},
}

// huggingFaceModel reads the model from a path that ends with it, as in
// "/models/ORG/NAME".
func huggingFaceModel(r *http.Request) string {
	if !maySend(r.Method) {
		return ""
	}
	_, model, _ := strings.Cut(r.URL.Path, "/models/")
	return strings.Trim(model, "/")
}

// huggingFaceSetModel keeps the slash between ORG and NAME.
func huggingFaceSetModel(escaped, model string) string {
	before, _, _ := strings.Cut(escaped, "/models/")
	return before + "/models/" + strings.ReplaceAll(escapeSegment(model), "%2F", "/")
}

// cohere is https://api.cohere.com. Sources: docs.cohere.com, "Errors" and
// "Rate limits", and cohere-go's errors.
var cohere = likeOpenAI("cohere", func(v *vendor) {
	v.caps, v.choices = []string{"max_tokens"}, []string{"num_generations"}
	v.inputOnly = []string{"/embed", "/rerank", "/classify", "/tokenize", "/detokenize", "/datasets"}
	v.messages = []string{"message", "error.message"}
	v.signs = []sign{anError, {at: "delta.error"}} // the second in an event that ends a message
	v.usage = cohereUsage
	v.rules = []rule{
		{status: 498, class: throttle.KeyRefused},
		{status: 429, says: []string{"trial", "month"}, class: throttle.CreditExhausted}, // the month's calls of a trial key
	}
})

// cohereUsage is that of both versions of the API, whole and in the event that
// ends a stream. What is billed may differ from what was read; the larger
// counts.
var cohereUsage = under([]string{"meta", "usage", "delta.usage", "response.meta"},
	usageField{role: allInput, at: []string{"billed_units.input_tokens"}},
	usageField{role: allInput, at: []string{"tokens.input_tokens"}},
	usageField{role: allOutput, at: []string{"billed_units.output_tokens"}},
	usageField{role: allOutput, at: []string{"tokens.output_tokens"}},
)
