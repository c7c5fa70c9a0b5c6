package dialect_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// verdictTests go beyond the recorded answers: neighbours of each trap.
var verdictTests = []struct {
	name    string
	dialect dialect.Dialect
	resp    *http.Response
	want    throttle.Verdict
}{
	{"too large for the limit", dialect.OpenAI, answer(429, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 30601.","type":"tokens","code":"rate_limit_exceeded"}}`),
		throttle.Verdict{Class: throttle.BadRequest, Detail: "429 tokens rate_limit_exceeded"}},
	{"quota by its type alone", dialect.OpenAI, answer(429, `{"error":{"message":"m","type":"insufficient_quota","code":null}}`),
		throttle.Verdict{Class: throttle.CreditExhausted, Scope: throttle.ScopeKey, Detail: "429 insufficient_quota"}},
	{"quota by its text alone", dialect.OpenAI, answer(429, `{"error":{"message":"You exceeded your current quota, please check your plan"}}`),
		throttle.Verdict{Class: throttle.CreditExhausted, Scope: throttle.ScopeKey, Detail: "429"}},
	{"slow down", dialect.OpenAI, answer(429, `{"error":{"type":"rate_limit_error","code":"slow_down"}}`),
		throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Detail: "429 rate_limit_error slow_down"}},
	{"project's spend limit", dialect.OpenAI, answer(429, `{"error":{"type":"insufficient_quota","code":"project_spend_limit_exceeded"}}`),
		throttle.Verdict{Class: throttle.CreditExhausted, Scope: throttle.ScopeKey, Detail: "429 insufficient_quota project_spend_limit_exceeded"}},
	{"flex", dialect.OpenAI, answer(429, `{"error":{"message":"Resource Unavailable"}}`),
		throttle.Verdict{Class: throttle.Overloaded, Scope: throttle.ScopeModel, Detail: "429"}},
	{"unknown model", dialect.OpenAI, answer(404, `{"error":{"code":"model_not_found"}}`),
		throttle.Verdict{Class: throttle.ModelDenied, Scope: throttle.ScopeModel, Detail: "404 model_not_found"}},
	{"country", dialect.OpenAI, answer(403, `{"error":{"message":"Country, region, or territory not supported","code":"unsupported_country_region_territory"}}`),
		throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey, Detail: "403 unsupported_country_region_territory"}},
	{"model not allowed, without a code", dialect.OpenAI, answer(403, `{"error":{"message":"Model not allowed for this project"}}`),
		throttle.Verdict{Class: throttle.ModelDenied, Scope: throttle.ScopeModel, Detail: "403"}},
	{"a text that isn't liked", dialect.OpenAI, answer(403, `{"error":{"message":"The model is not allowed to answer this","code":"content_policy_violation"}}`),
		throttle.Verdict{Class: throttle.BadRequest, Detail: "403 content_policy_violation"}},
	{"the cap of a wait is the throttle's", dialect.OpenAI, answer(429, "", "Retry-After", "86400"),
		throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: 24 * time.Hour, Detail: "429"}},
	{"error is a string", dialect.OpenAI, answer(429, `{"error":"Too many requests. Please try again in 3s"}`),
		throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: 3 * time.Second, Detail: "429"}},
	{"cut off", dialect.OpenAI, answer(429, `{"error":{"code":"insufficient_quota","message":"You exc`),
		throttle.Verdict{Class: throttle.CreditExhausted, Scope: throttle.ScopeKey, Detail: "429 insufficient_quota"}},
	{"no JSON", dialect.OpenAI, answer(401, "nope"), throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey, Detail: "401"}},
	{"credit that comes back", dialect.OpenAI, answer(402, "", "Retry-After", "60"),
		throttle.Verdict{Class: throttle.CreditExhausted, Scope: throttle.ScopeKey, Wait: time.Minute, Detail: "402"}},

	{"workspace's limit", dialect.Anthropic, answer(400, `{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified workspace API usage limits. You will regain access on 2026-02-01."}}`),
		throttle.Verdict{Class: throttle.CreditExhausted, Scope: throttle.ScopeKey, Detail: "400 invalid_request_error"}},
	{"organization disabled", dialect.Anthropic, answer(403, `{"error":{"type":"permission_error","message":"This organization has been disabled."}}`),
		throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey, Detail: "403 permission_error"}},
	{"unknown model", dialect.Anthropic, answer(404, `{"error":{"type":"not_found_error","message":"model: x"}}`),
		throttle.Verdict{Class: throttle.ModelDenied, Scope: throttle.ScopeModel, Detail: "404 not_found_error"}},
	{"overloaded with a wait", dialect.Anthropic, answer(529, `{"error":{"type":"overloaded_error"}}`, "Retry-After", "8"),
		throttle.Verdict{Class: throttle.Overloaded, Scope: throttle.ScopeModel, Wait: 8 * time.Second, Detail: "529 overloaded_error"}},
	{"code before text", dialect.Anthropic, answer(429, `{"error":{"type":"rate_limit_error","message":"Your credit balance is too low"}}`),
		throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Detail: "429 rate_limit_error"}},
	{"instant of full replenishment", dialect.Anthropic, answer(429, `{"error":{"type":"rate_limit_error"}}`, "anthropic-ratelimit-tokens-reset", "2099-01-01T00:00:00Z"),
		throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Detail: "429 rate_limit_error"}},

	{"quota of a day is named", dialect.Gemini, answer(429, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"45.837906927s"}]}}`),
		throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: 45_837_906_927, Detail: "429 RESOURCE_EXHAUSTED GenerateRequestsPerDayPerProjectPerModel-FreeTier"}},
	{"refused key in an array", dialect.Gemini, answer(400, `[{"error":{"status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}]`),
		throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey, Detail: "400 INVALID_ARGUMENT API_KEY_INVALID"}},
	{"any key restriction", dialect.Gemini, answer(403, `{"error":{"details":[{"reason":"API_KEY_ANDROID_APP_BLOCKED"}]}}`),
		throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey, Detail: "403 API_KEY_ANDROID_APP_BLOCKED"}},
	{"a limit of ten isn't one of zero", dialect.Gemini, answer(429, `{"error":{"message":"Quota exceeded, limit: 10, model: m\nPlease retry in 5s.","status":"RESOURCE_EXHAUSTED"}}`),
		throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: 5 * time.Second, Detail: "429 RESOURCE_EXHAUSTED"}},
	{"payment required", dialect.Gemini, answer(402, `{"error":{"code":"payment_required"}}`),
		throttle.Verdict{Class: throttle.CreditExhausted, Scope: throttle.ScopeKey, Detail: "402 payment_required"}},
	{"unknown model", dialect.Gemini, answer(404, `{"error":{"status":"NOT_FOUND"}}`),
		throttle.Verdict{Class: throttle.ModelDenied, Scope: throttle.ScopeModel, Detail: "404 NOT_FOUND"}},

	{"no funds", dialect.Twilio, answer(403, `{"code":20005,"message":"Account not active"}`),
		throttle.Verdict{Class: throttle.CreditExhausted, Scope: throttle.ScopeKey, Detail: "403 20005"}},
	{"error in another shape", dialect.Twilio, answer(401, ""), throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey, Detail: "401"}},

	{"edge", dialect.Generic, answer(520, ""), throttle.Verdict{Class: throttle.ServerError, Detail: "520"}},
	{"edge", dialect.Generic, answer(522, ""), throttle.Verdict{Class: throttle.ServerError, Detail: "522"}},
	{"edge", dialect.Generic, answer(444, ""), throttle.Verdict{Class: throttle.BadRequest, Detail: "444"}},
	{"overloaded", dialect.Generic, answer(529, "", "Retry-After", "8"),
		throttle.Verdict{Class: throttle.Overloaded, Scope: throttle.ScopeKey, Wait: 8 * time.Second, Detail: "529"}},
	{"the draft's field", dialect.Generic, answer(429, "", "RateLimit", `"default";r=0;t=7`),
		throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeKey, Wait: 7 * time.Second, Detail: "429"}},
	{"a field of the body", dialect.Generic, answer(429, `{"retry_after":1.5,"code":"slow"}`),
		throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeKey, Wait: 1500 * time.Millisecond, Detail: "429 slow"}},
	{"403", dialect.Generic, answer(403, ""), throttle.Verdict{Class: throttle.BadRequest, Detail: "403"}},
	{"redirect", dialect.Generic, answer(302, ""), throttle.Verdict{}},
}

func TestVerdictsBeyondTheRecordedAnswers(t *testing.T) {
	for _, tt := range verdictTests {
		t.Run(tt.dialect.Name()+"/"+tt.name, func(t *testing.T) {
			if got := dialect.Judge(tt.dialect, tt.resp); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}
