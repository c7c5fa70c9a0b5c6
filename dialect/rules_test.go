package dialect_test

import (
	"testing"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// Verdicts, in short.
const (
	none  = throttle.ScopeNone
	model = throttle.ScopeModel
	key   = throttle.ScopeKey
)

// ruleTests are what the vendors' papers say beyond the recorded answers.
var ruleTests = []struct {
	dialect dialect.Dialect
	status  int
	body    string
	class   throttle.Class
	scope   throttle.Scope
	wait    time.Duration
	headers []string
}{
	{dialect.OpenAI, 429, `{"error":{"message":"Request too large for gpt-4o","type":"tokens"}}`, throttle.BadRequest, none, 0, nil},
	{dialect.OpenAI, 401, `{"error":{"message":"You must be a member of an organization to use the API","type":"invalid_request_error","code":null}}`, throttle.KeyRefused, key, 0, nil},

	{dialect.AzureOpenAI, 403, `{"error":{"code":"403","message":"Access denied due to Virtual Network/Firewall rules."}}`, throttle.KeyRefused, key, 0, nil},
	{dialect.AzureOpenAI, 429, `{"error":{"code":"429","message":"Please retry after 9 seconds."}}`, throttle.Busy, model, 9 * time.Second, []string{"X-Ratelimit-Reset-Tokens", "55"}},
	{dialect.AzureOpenAI, 429, `{"error":{"type":"insufficient_quota","code":"insufficient_quota"}}`, throttle.CreditExhausted, key, 0, nil},
	{dialect.AzureOpenAI, 404, `{"error":{"code":"404","message":"Resource not found"}}`, throttle.BadRequest, none, 0, nil},

	{dialect.Gemini, 429, `{"error":{"code":"too_many_requests"}}`, throttle.Busy, model, 0, nil},
	{dialect.Gemini, 429, `{"error":{"code":429,"message":"Quota exceeded, limit: 0\nPlease retry in 10h","status":"RESOURCE_EXHAUSTED"}}`, throttle.ModelDenied, model, 0, nil},
	{dialect.Vertex, 403, `{"error":{"code":403,"status":"PERMISSION_DENIED","details":[{"reason":"BILLING_DISABLED"}]}}`, throttle.CreditExhausted, key, 0, nil},
	{dialect.Vertex, 403, `{"error":{"code":403,"status":"PERMISSION_DENIED","message":"Permission denied on resource publishers/google/models/x"}}`, throttle.ModelDenied, model, 0, nil},
	{dialect.Vertex, 404, `[{"error":{"code":404,"status":"NOT_FOUND"}}]`, throttle.ModelDenied, model, 0, nil},
	{dialect.Vertex, 401, `{"error":{"status":"UNAUTHENTICATED"}}`, throttle.KeyRefused, key, 0, nil},
	{dialect.Vertex, 503, `{"error":{"status":"UNAVAILABLE"}}`, throttle.Overloaded, model, 0, nil},
	{dialect.Vertex, 429, `{"type":"error","error":{"type":"rate_limit_error"}}`, throttle.Busy, model, 0, nil},

	{dialect.Bedrock, 400, `{"__type":"com.amazon.coral.service#ServiceQuotaExceededException"}`, throttle.Busy, model, 0, nil},
	{dialect.Bedrock, 400, `{"__type":"ThrottlingException:http://x"}`, throttle.Busy, model, 0, nil},
	{dialect.Bedrock, 403, `{"message":"You don't have access to the model"}`, throttle.ModelDenied, model, 0, []string{"X-Amzn-ErrorType", "AccessDeniedException:http://x/"}},
	{dialect.Bedrock, 529, `{}`, throttle.Overloaded, model, 0, nil},
	{dialect.Bedrock, 424, `{}`, throttle.ServerError, none, 0, []string{"X-Amzn-ErrorType", "ModelErrorException"}},
	{dialect.Bedrock, 400, `{}`, throttle.BadRequest, none, 0, []string{"X-Amzn-ErrorType", "ValidationException"}},

	{dialect.Mistral, 429, `{"object":"error","message":"Service tier capacity exceeded","type":"service_tier_capacity_exceeded","code":"3505"}`, throttle.Overloaded, model, 0, nil},
	{dialect.Mistral, 401, `{"detail":"Unauthorized"}`, throttle.KeyRefused, key, 0, nil},
	{dialect.Mistral, 404, ``, throttle.ModelDenied, model, 0, nil},
	{dialect.Cohere, 498, `{"message":"invalid token"}`, throttle.KeyRefused, key, 0, nil},
	{dialect.Cohere, 429, `{"message":"You are using a Trial key, which is limited to 1000 API calls / month."}`, throttle.CreditExhausted, key, 0, nil},
	{dialect.Cohere, 429, `{"message":"You are using a Trial key, which is limited to 10 API calls / minute."}`, throttle.Busy, model, 0, nil},
	{dialect.Groq, 413, `{"error":{"code":"rate_limit_exceeded","message":"?"}}`, throttle.BadRequest, none, 0, nil},
	{dialect.Groq, 498, ``, throttle.Overloaded, model, 0, nil},
	{dialect.DeepSeek, 404, ``, throttle.ModelDenied, model, 0, nil},
	{dialect.XAI, 429, `{"code":"x","error":"Your team has used all available credits or reached its monthly spending limit."}`, throttle.CreditExhausted, key, 0, nil},
	{dialect.XAI, 403, `{"code":"permission-denied","error":"No access"}`, throttle.ModelDenied, model, 0, nil},
	{dialect.OpenRouter, 402, `{"error":{"code":402,"metadata":{"reason":"in_flight_budget_exhausted"}}}`, throttle.Busy, key, 5 * time.Second, []string{"Retry-After", "5"}},
	{dialect.OpenRouter, 402, `{"error":{"code":402}}`, throttle.CreditExhausted, key, 0, nil},
	{dialect.OpenRouter, 403, `{"error":{"code":403,"message":"Your input was flagged"}}`, throttle.BadRequest, none, 0, nil},
	{dialect.OpenRouter, 502, `{"error":{"code":502}}`, throttle.Overloaded, model, 0, nil},
	{dialect.OpenRouter, 429, `{"error":{"code":429,"message":"Rate limit exceeded: free-models-per-min."}}`, throttle.Busy, key, 0, nil},
	{dialect.Together, 429, ``, throttle.Busy, model, 0, nil},
	{dialect.Together, 402, ``, throttle.CreditExhausted, key, 0, nil},
	{dialect.Fireworks, 403, ``, throttle.KeyRefused, key, 0, nil},
	{dialect.Perplexity, 503, ``, throttle.Overloaded, model, 0, nil},
	{dialect.HuggingFace, 503, `{"error":"Model o/n is currently loading","estimated_time":20.5}`, throttle.Overloaded, model, 20500 * time.Millisecond, nil},

	{dialect.Vonage, 403, `{"type":"https://developer.vonage.com/api-errors#forbidden"}`, throttle.KeyRefused, key, 0, nil},
	{dialect.Vonage, 403, `{"type":"https://developer.vonage.com/api-errors#low-balance"}`, throttle.CreditExhausted, key, 0, nil},
	{dialect.Vonage, 402, `{"type":"https://developer.vonage.com/api-errors/messages-olympus#out-of-credit"}`, throttle.CreditExhausted, key, 0, nil},
	{dialect.MessageBird, 422, `{"errors":[{"code":2}]}`, throttle.KeyRefused, key, 0, nil},
	{dialect.MessageBird, 400, `{"errors":[{"code":25}]}`, throttle.CreditExhausted, key, 0, nil},
	{dialect.MessageBird, 422, `{"errors":[{"code":9},{"code":10}]}`, throttle.BadRequest, none, 0, nil},
	{dialect.MessageBird, 429, ``, throttle.Busy, key, 0, nil},
	{dialect.SES, 400, `<?xml version="1.0" encoding="latin1"?><ErrorResponse xmlns="http://x"><Error><Code>AccountSendingPausedException</Code></Error></ErrorResponse>`, throttle.KeyRefused, key, 0, nil},
	{dialect.SES, 400, `{}`, throttle.KeyRefused, key, 0, []string{"X-Amzn-Errortype", "SendingPausedException"}},
	{dialect.SES, 400, ` <ErrorResponse><Error><Code>MessageRejected</Code><Message>Throttling isn't it</Message></Error>`, throttle.BadRequest, none, 0, nil},
	{dialect.SES, 400, `<ErrorResponse><Error><Code>Throttling</Code><Message>cut o`, throttle.Busy, key, 0, nil},
	{dialect.SNS, 403, `<ErrorResponse><Error><Code>AuthorizationError</Code></Error></ErrorResponse>`, throttle.KeyRefused, key, 0, nil},
	{dialect.SNS, 403, `<ErrorResponse><Error><Code>SignatureDoesNotMatch</Code></Error></ErrorResponse>`, throttle.BadRequest, none, 0, nil},
	{dialect.SendGrid, 401, `{"errors":[{"message":"The provided authorization grant is invalid, expired, or revoked"}]}`, throttle.KeyRefused, key, 0, nil},
	{dialect.Mailgun, 401, `Forbidden`, throttle.KeyRefused, key, 0, nil},

	{dialect.Stripe, 429, `{"error":{"code":"rate_limit"}}`, throttle.Busy, model, 0, []string{"Stripe-Rate-Limited-Reason", "endpoint-rate"}},
	{dialect.Stripe, 429, `{"error":{"code":"rate_limit"}}`, throttle.Busy, model, 0, []string{"Stripe-Rate-Limited-Reason", "endpoint-concurrency"}},
	{dialect.Stripe, 429, `{"error":{"code":"rate_limit"}}`, throttle.Busy, key, 0, nil},
	{dialect.Stripe, 402, ``, throttle.BadRequest, none, 0, nil},
	{dialect.Slack, 200, `{"ok":false,"error":"invalid_auth"}`, throttle.KeyRefused, key, 0, nil},
	{dialect.Slack, 503, ``, throttle.Overloaded, model, 0, nil},
	{dialect.GitHub, 403, `{"message":"API rate limit exceeded"}`, throttle.Busy, key, 0, []string{"X-Ratelimit-Remaining", "0"}},
	{dialect.GitHub, 429, `{"message":"You have exceeded a secondary rate limit"}`, throttle.Busy, key, time.Minute, []string{"X-Ratelimit-Remaining", "7"}},
	{dialect.GitHub, 403, `{"message":"x","documentation_url":"https://docs.github.com/rest#about-secondary-rate-limits"}`, throttle.Busy, key, time.Minute, nil},
	{dialect.GitHub, 403, `{"message":"Sorry. Your account was suspended."}`, throttle.KeyRefused, key, 0, nil},
	{dialect.GitHub, 404, `{"message":"Not Found"}`, throttle.BadRequest, none, 0, nil},
	{dialect.Shopify, 429, `{"errors":"Exceeded 2 calls per second"}`, throttle.Busy, key, 2 * time.Second, []string{"Retry-After", "2.0"}},
	{dialect.Shopify, 423, ``, throttle.KeyRefused, key, 0, nil},
	{dialect.Shopify, 402, ``, throttle.CreditExhausted, key, 0, nil},
	{dialect.Shopify, 200, `{"errors":[{"extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":10,"throttleStatus":{"currentlyAvailable":1,"restoreRate":0}}}}`, throttle.Busy, key, 0, nil},
	{dialect.Shopify, 200, `{"errors":[{"extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":1e300,"throttleStatus":{"currentlyAvailable":1,"restoreRate":1e-9}}}}`, throttle.Busy, key, pause.MaxHint, nil},
	{dialect.Shopify, 200, `{"errors":[{"extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":1,"throttleStatus":{"currentlyAvailable":5,"restoreRate":1}}}}`, throttle.Busy, key, 0, nil},
	{dialect.Shopify, 200, `{"errors":[{"extensions":{"code":"MAX_COST_EXCEEDED"}}]}`, throttle.BadRequest, none, 0, nil},
	{dialect.MetaGraph, 400, `{"error":{"code":4}}`, throttle.Busy, key, 0, nil},
	{dialect.MetaGraph, 403, `{"error":{"code":205}}`, throttle.KeyRefused, key, 0, nil},
	{dialect.MetaGraph, 400, `{"error":{"code":100}}`, throttle.BadRequest, none, 0, nil},
	{dialect.WhatsApp, 400, `{"error":{"code":131048}}`, throttle.KeyRefused, key, 0, nil},
	{dialect.WhatsApp, 500, `{"error":{"code":2}}`, throttle.Overloaded, key, 0, nil},
	{dialect.WhatsApp, 429, `{"error":{"code":131056}}`, throttle.Busy, none, 0, nil},
	{dialect.WhatsApp, 400, `{"error":{"code":4}}`, throttle.Busy, key, 7 * time.Minute,
		[]string{"X-Business-Use-Case-Usage", `{"1":[{"estimated_time_to_regain_access":3}],"2":[{"estimated_time_to_regain_access":7}]}`}},
	{dialect.IETF, 503, ``, throttle.Overloaded, key, 7 * time.Second, []string{"RateLimit", `"default";r=0;t=7`}},
}

func TestVendorsRules(t *testing.T) {
	for _, tt := range ruleTests {
		resp := answer(tt.status, tt.body, tt.headers...)
		if tt.status == 200 {
			resp.Header.Set("Content-Type", "application/json")
		}
		got := dialect.Judge(tt.dialect, resp)
		if got.Class != tt.class || got.Scope != tt.scope || got.Wait != tt.wait {
			t.Errorf("%s, %d %s %v: %+v, want %v, scope %v, %v", tt.dialect.Name(), tt.status, tt.body, tt.headers, got, tt.class, tt.scope, tt.wait)
		}
	}
}

// What is called a model is an endpoint here, so a GET can be denied one.
func TestEndpointIsDeniedToAnyMethod(t *testing.T) {
	for _, d := range []dialect.Dialect{dialect.GitHub, dialect.Stripe} {
		resp := answer(403, `{}`)
		resp.Request = post(t, "https://x/", "")
		resp.Request.Method = "GET"
		if got := dialect.Judge(d, resp); got.Class != throttle.ModelDenied || got.Scope != model {
			t.Errorf("%s: %+v, want model_denied", d.Name(), got)
		}
	}
}
