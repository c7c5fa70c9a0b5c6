package dialect_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// Only what the vendor is known to have left alone counts as undone.
func TestJudgeUndone(t *testing.T) {
	for name, c := range map[string]struct {
		d      dialect.Dialect
		status int
		body   string
		class  throttle.Class
		undone bool
	}{
		"busy":                {dialect.OpenAI, 429, `{"error":{"code":"rate_limit_exceeded"}}`, throttle.Busy, true},
		"busy, Twilio":        {dialect.Twilio, 429, `{"code":20429}`, throttle.Busy, true},
		"busy with 400":       {dialect.Bedrock, 400, `{"__type":"ServiceQuotaExceededException"}`, throttle.Busy, true},
		"flex":                {dialect.OpenAI, 429, `{"error":{"message":"Resource Unavailable"}}`, throttle.Overloaded, true},
		"high demand":         {dialect.AzureOpenAI, 429, `{"error":{"code":"429","message":"The system is currently experiencing high demand"}}`, throttle.Overloaded, true},
		"capacity, by type":   {dialect.Mistral, 429, `{"type":"service_tier_capacity_exceeded"}`, throttle.Overloaded, true},
		"capacity, by code":   {dialect.Mistral, 429, `{"code":"3505"}`, throttle.Overloaded, true},
		"capacity, Groq":      {dialect.Groq, 498, `{"error":{"code":"capacity_exceeded"}}`, throttle.Overloaded, true},
		"not ready":           {dialect.Bedrock, 429, `{"__type":"ModelNotReadyException"}`, throttle.Overloaded, true},
		"being loaded":        {dialect.HuggingFace, 503, `{"error":"loading","estimated_time":20}`, throttle.Overloaded, true},
		"no provider":         {dialect.OpenRouter, 503, `{"error":{"code":503,"message":"No available model provider that meets your routing requirements"}}`, throttle.Overloaded, true},
		"plain 503":           {dialect.OpenAI, 503, ``, throttle.Overloaded, false},
		"503, Hugging Face":   {dialect.HuggingFace, 503, `{"error":"x"}`, throttle.Overloaded, false},
		"503, OpenRouter":     {dialect.OpenRouter, 503, ``, throttle.Overloaded, false},
		"provider is down":    {dialect.OpenRouter, 502, ``, throttle.Overloaded, false},
		"529":                 {dialect.Anthropic, 529, `{"error":{"type":"overloaded_error"}}`, throttle.Overloaded, false},
		"unavailable":         {dialect.Bedrock, 503, `{"__type":"ServiceUnavailableException"}`, throttle.Overloaded, false},
		"server's error":      {dialect.OpenAI, 500, ``, throttle.ServerError, false},
		"bad request":         {dialect.OpenAI, 400, ``, throttle.BadRequest, false},
		"busy in a 200":       {dialect.New("own", dialect.OpenAI, dialect.Custom{Judge: judgedAs(throttle.Busy)}), 200, `{}`, throttle.Busy, false},
		"own judge says busy": {dialect.New("own", dialect.Anthropic, dialect.Custom{Judge: judgedAs(throttle.Busy)}), 529, `{}`, throttle.Busy, true},
		"own judge says more": {dialect.New("own", dialect.Mistral, dialect.Custom{Judge: judgedAs(throttle.ServerError)}), 429, `{"code":"3505"}`, throttle.ServerError, false},
	} {
		t.Run(name, func(t *testing.T) {
			resp := &http.Response{
				StatusCode: c.status, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(c.body)), ContentLength: int64(len(c.body)),
			}
			v, undone := dialect.JudgeUndone(c.d, resp)
			if v.Class != c.class || undone != c.undone {
				t.Errorf("%v, undone %v, want %v, %v", v.Class, undone, c.class, c.undone)
			}
			if text, err := io.ReadAll(resp.Body); err != nil || string(text) != c.body {
				t.Errorf("the body is %q, %v", text, err)
			}
		})
	}
}

func judgedAs(class throttle.Class) func(*http.Response, []byte, throttle.Verdict) throttle.Verdict {
	return func(*http.Response, []byte, throttle.Verdict) throttle.Verdict { return throttle.Verdict{Class: class} }
}
