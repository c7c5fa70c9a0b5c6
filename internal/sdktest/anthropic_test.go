package sdktest

import (
	"context"
	"net/http"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/headgate-go/headgate/dialect"
)

var anthropicSDK = sdk{
	name:     "anthropic-sdk-go",
	module:   "github.com/anthropics/anthropic-sdk-go/v2",
	dialect:  dialect.Anthropic,
	model:    "claude-sonnet-4-5",
	client:   "`option.WithHTTPClient(client)`",
	settings: "as `openai-go`; it sleeps as long as a vendor's `Retry-After` says, without a cap",
	connect: func(c *http.Client, bare bool) (calls, error) {
		opts := []option.RequestOption{option.WithHTTPClient(c), option.WithAPIKey(secret), option.WithBaseURL("https://api.anthropic.com/")}
		if !bare {
			opts = append(opts, option.WithMaxRetries(0))
		}
		return messages(anthropic.NewClient(opts...)), nil
	},
	says: answers{
		once: reply(200, `{"id":"m1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Hello."}],
			"stop_reason":"end_turn","usage":{"input_tokens":50,"cache_read_input_tokens":20,"output_tokens":30}}`),
		stream: events(
			`message_start: {"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],
				"usage":{"input_tokens":50,"cache_read_input_tokens":20,"output_tokens":1}}}`,
			`content_block_start: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`content_block_delta: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}`,
			`content_block_stop: {"type":"content_block_stop","index":0}`,
			`message_delta: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":30}}`,
			`message_stop: {"type":"message_stop"}`,
		),
		busy:    reply(429, `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your rate limit."}}`, "Retry-After", "300"),
		refused: reply(401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`),
		tokens:  100,
	},
	refusal: func(err error) (refusal, bool) {
		e, ok := as[*anthropic.Error](err)
		if !ok {
			return refusal{}, false
		}
		return refusal{"*anthropic.Error", e.StatusCode, e.Response}, true
	},
}

func messages(client anthropic.Client) calls {
	ask := anthropic.MessageNewParams{
		Model:     "claude-sonnet-4-5",
		MaxTokens: 400,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Say hello."))},
	}
	return calls{
		once: func(ctx context.Context) error {
			_, err := client.Messages.New(ctx, ask)
			return err
		},
		stream: func(ctx context.Context) error {
			s := client.Messages.NewStreaming(ctx, ask)
			defer s.Close()
			for s.Next() {
			}
			return s.Err()
		},
	}
}
