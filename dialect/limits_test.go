package dialect_test

import (
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
	}
	for _, tt := range tests {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.name, tt.got, tt.want)
		}
	}
}
