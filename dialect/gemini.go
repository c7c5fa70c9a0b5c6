package dialect

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// gemini is https://generativelanguage.googleapis.com. Sources: its
// troubleshooting page, googleapis/api/error_reason, and gemini-cli's
// googleQuotaErrors.ts.
//
// Tokens per minute count the input only, so the cap of the output only bounds
// the guess. Output is reported as the total less the prompt: whether thoughts
// are among the candidates' tokens differs between versions of the API.
var gemini = &vendor{
	name:        "gemini",
	key:         geminiKey,
	model:       googleModel,
	setModel:    googleSetModel,
	modelAt:     "model", // of its OpenAI-compatible endpoints
	modelPrefix: "models/",
	caps: []string{
		"generationConfig.maxOutputTokens", "generation_config.max_output_tokens", // protobuf takes both spellings
		"max_tokens", "max_completion_tokens",
	},
	tokens:    true,
	inputOnly: []string{":countTokens", ":embedContent", ":batchEmbedContents", "/embeddings"},

	busyScope: throttle.ScopeModel,
	// The id of a quota is for people: it says whether it is one of a day.
	codes:    []string{"error.details.*.reason", "error.status", "error.code", "error.details.*.violations.*.quotaId"},
	messages: []string{"error.message"},
	figures:  []string{"error.details.*.retryDelay"},
	rules:    geminiRules,
	signs:    []sign{anError}, // chunks of a stream
	unnamed:  throttle.ServerError,
	wait:     geminiWait,
	usage:    geminiUsage,
}

var geminiRules = []rule{
	{at: "error.details.*.reason", is: []string{
		"API_KEY_INVALID", // of an expired one too, with 400
		"*_BLOCKED",       // API_KEY_SERVICE_BLOCKED, API_KEY_IP_ADDRESS_BLOCKED and so on
		"SERVICE_DISABLED", "CONSUMER_SUSPENDED", "CONSUMER_INVALID",
	}, class: throttle.KeyRefused},
	{at: "error.details.*.reason", is: []string{"BILLING_DISABLED"}, class: throttle.CreditExhausted},
	{at: "error.code", is: []string{"payment_required"}, class: throttle.CreditExhausted},
	{says: []string{"prepayment credits are depleted"}, class: throttle.CreditExhausted}, // with 402 and 429
	{status: 402, class: throttle.CreditExhausted},
	{status: 403, says: []string{"reported as leaked"}, class: throttle.KeyRefused},
	{status: 400, says: []string{"api key not valid"}, class: throttle.KeyRefused},
	{status: 400, says: []string{"api key expired"}, class: throttle.KeyRefused},
	// A tier without any quota for the model. The answer still names a wait.
	{status: 429, says: []string{"limit: 0,"}, class: throttle.ModelDenied},
	{status: 429, says: []string{"limit: 0\n"}, class: throttle.ModelDenied},
	{at: "error.status", is: []string{"RESOURCE_EXHAUSTED"}, class: throttle.Busy},
	{at: "error.code", is: []string{"rate_limit_exceeded", "quota_exceeded", "too_many_requests"}, class: throttle.Busy},
	{at: "error.status", is: []string{"UNAVAILABLE"}, class: throttle.Overloaded},
	{at: "error.status", is: []string{"UNAUTHENTICATED"}, class: throttle.KeyRefused},
	{at: "error.status", is: []string{"NOT_FOUND"}, class: throttle.ModelDenied},
	{status: 404, class: throttle.ModelDenied},
	deniedAccess,
	deniedModel,
}

var geminiUsage = append(under([]string{"usageMetadata"},
	usageField{role: allInput, at: []string{"promptTokenCount"}},
	usageField{role: cachedInput, at: []string{"cachedContentTokenCount"}},
	usageField{role: partOfOutput, at: []string{"candidatesTokenCount"}},
	usageField{role: partOfOutput, at: []string{"thoughtsTokenCount"}},
	usageField{role: allTokens, at: []string{"totalTokenCount"}},
), openAIUsage...)

// geminiWait reads the google.rpc.RetryInfo of an error within a stream.
func geminiWait(a *answer) (time.Duration, bool) {
	return pause.ParseDuration(a.facts.code("error.details.*.retryDelay"))
}

// geminiKey reads the key from the header, from the query, or from the bearer
// token of the OpenAI-compatible endpoints.
func geminiKey(r *http.Request) string {
	if key := r.Header.Get("X-Goog-Api-Key"); key != "" {
		return key
	}
	if key := r.URL.Query().Get("key"); key != "" {
		return key
	}
	return bare(r.Header.Get("Authorization"))
}

// googleModel reads the model from a path that calls a method of it:
// "/v1beta/models/M:generateContent" yields M, and
// "/v1beta/tunedModels/T:generateContent" yields tunedModels/T, since the two
// kinds have names of their own.
func googleModel(r *http.Request) string {
	before, _, isCall := cutLast(r.URL.EscapedPath(), ":")
	if !isCall {
		return ""
	}
	dir, name, _ := cutLast(before, "/")
	model, err := url.PathUnescape(name)
	if err != nil {
		model = name
	}
	switch {
	case strings.HasSuffix(dir, "/models"):
		return model
	case strings.HasSuffix(dir, "/tunedModels"):
		return "tunedModels/" + model
	}
	return ""
}

// googleSetModel leaves the method, and has tuned models in the directory that
// is theirs.
func googleSetModel(escaped, model string) string {
	before, method, _ := cutLast(escaped, ":")
	dir, _, _ := cutLast(before, "/")
	dir, _, _ = cutLast(dir, "/")
	kind := "/models/"
	if tuned, ok := strings.CutPrefix(model, "tunedModels/"); ok {
		kind, model = "/tunedModels/", tuned
	}
	return dir + kind + escapeSegment(model) + ":" + method
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
