package dialect_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

func TestReadyLimitsCountAsTheVendorDoes(t *testing.T) {
	bucket := func(l throttle.Limit, burst int64) throttle.Limit {
		return l.Using(throttle.TokenBucket).WithBurst(burst)
	}
	tests := []struct {
		name      string
		got, want []throttle.Limit
	}{
		{"Anthropic", dialect.AnthropicLimits(4000, 400_000, 80_000), []throttle.Limit{
			bucket(throttle.Requests(4000, time.Minute), 66),
			bucket(throttle.InputTokens(400_000, time.Minute), 396_000),
			bucket(throttle.OutputTokens(80_000, time.Minute), 79_200),
		}},
		{"OpenAI", dialect.OpenAILimits(60, 150_000), []throttle.Limit{
			bucket(throttle.Requests(60, time.Minute), 1),
			bucket(throttle.Tokens(150_000, time.Minute), 148_500),
		}},
		{"Gemini", dialect.GeminiLimits(10, 250_000), []throttle.Limit{
			throttle.Requests(10, time.Minute), throttle.InputTokens(250_000, time.Minute),
		}},
		{"the smallest", dialect.OpenAILimits(1, 1), []throttle.Limit{
			bucket(throttle.Requests(1, time.Minute), 1), bucket(throttle.Tokens(1, time.Minute), 1),
		}},
		{"only one", dialect.OpenAILimits(0, 100), []throttle.Limit{bucket(throttle.Tokens(100, time.Minute), 99)}},
		{"none", dialect.AnthropicLimits(0, 0, 0), nil},

		{"Azure", dialect.AzureOpenAILimits(600, 100_000), []throttle.Limit{
			bucket(throttle.Requests(600, time.Minute), 10), throttle.Tokens(100_000, time.Minute),
		}},
		{"Vertex", dialect.VertexLimits(60), []throttle.Limit{throttle.Requests(60, time.Minute)}},
		{"Bedrock", dialect.BedrockLimits(50, 1000, 0), []throttle.Limit{throttle.Requests(50, time.Minute), throttle.Tokens(1000, time.Minute)}},
		{"Mistral", dialect.MistralLimits(5, 500_000, 1_000_000_000), []throttle.Limit{
			bucket(throttle.Requests(5, time.Second), 4), throttle.Tokens(500_000, time.Minute), throttle.Tokens(1_000_000_000, 30*24*time.Hour),
		}},
		{"Cohere", dialect.CohereLimits(500), []throttle.Limit{throttle.Requests(500, time.Minute)}},
		{"Groq", dialect.GroqLimits(30, 14_400, 6000, 500_000), []throttle.Limit{
			throttle.Requests(30, time.Minute), throttle.Requests(14_400, 24*time.Hour), throttle.Tokens(6000, time.Minute), throttle.Tokens(500_000, 24*time.Hour),
		}},
		{"xAI", dialect.XAILimits(480, 2_000_000), []throttle.Limit{bucket(throttle.Requests(480, time.Minute), 8), throttle.Tokens(2_000_000, time.Minute)}},
		{"Fireworks", dialect.FireworksLimits(3_600_000, 36_000), []throttle.Limit{
			throttle.InputTokens(3_600_000, time.Minute), throttle.OutputTokens(36_000, time.Minute),
		}},
		{"Perplexity", dialect.PerplexityLimits(50), []throttle.Limit{bucket(throttle.Requests(50, time.Minute), 1)}},
		{"Hugging Face", dialect.HuggingFaceLimits(1000), []throttle.Limit{throttle.Requests(1000, 5*time.Minute)}},

		{"Twilio", dialect.TwilioLimits(100), []throttle.Limit{throttle.InFlight(100)}},
		{"Vonage", dialect.VonageLimits(30), []throttle.Limit{bucket(throttle.Requests(30, time.Second), 29)}},
		{"Plivo", dialect.PlivoLimits(), []throttle.Limit{throttle.Requests(300, 5*time.Second)}},
		{"SES", dialect.SESLimits(14, 50_000), []throttle.Limit{bucket(throttle.Requests(14, time.Second), 13), throttle.Requests(50_000, 24*time.Hour)}},
		{"SNS", dialect.SNSLimits(1), []throttle.Limit{bucket(throttle.Requests(1, time.Second), 1)}},
		{"WhatsApp", dialect.WhatsAppLimits(80), []throttle.Limit{bucket(throttle.Requests(80, time.Second), 79)}},
		{"Stripe", dialect.StripeLimits(100), []throttle.Limit{bucket(throttle.Requests(100, time.Second), 99)}},
		{"Slack", dialect.SlackLimits(20), []throttle.Limit{throttle.Requests(20, time.Minute)}},
		{"GitHub", dialect.GitHubLimits(5000), []throttle.Limit{throttle.Requests(5000, time.Hour)}},
		{"Shopify", dialect.ShopifyRESTLimits(40, 2), []throttle.Limit{bucket(throttle.Requests(2, time.Second), 40)}},
		{"Shopify's points", dialect.ShopifyGraphQLLimits(2000, 100), []throttle.Limit{bucket(throttle.Points(100, time.Second), 2000)}},
	}
	for _, tt := range tests {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, tt.got, tt.want)
		}
		th, err := throttle.New(throttle.Config{Budgets: []throttle.Budget{{Models: []string{"*"}, Limits: tt.got}}})
		if err != nil && !errors.Is(err, throttle.ErrNotBuilt) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err == nil {
			th.Close()
		}
	}
}
