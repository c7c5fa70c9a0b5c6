package sdktest

import (
	"context"
	"net/http"

	"github.com/openai/openai-go/v3"
	oaiazure "github.com/openai/openai-go/v3/azure"
	"github.com/openai/openai-go/v3/option"

	"github.com/headgate-go/headgate/dialect"
)

var openAI = sdk{
	name:     "openai-go",
	module:   "github.com/openai/openai-go/v3",
	dialect:  dialect.OpenAI,
	model:    "gpt-4o",
	client:   "`option.WithHTTPClient(client)`",
	settings: "`option.WithMaxRetries(0)`; or leave its retries and use `WithDeniedResponses`, whose `x-should-retry: false` it obeys. `option.WithRequestTimeout` counts waiting",
	connect: func(c *http.Client, bare bool) (calls, error) {
		return chats(bare, option.WithHTTPClient(c), option.WithAPIKey(secret), option.WithBaseURL("https://api.openai.com/v1/")), nil
	},
	says:    chatAnswers,
	refusal: openAIRefusal,
}

// openAIAzure is the same SDK with its azure package.
var openAIAzure = sdk{
	name:     "openai-go/azure",
	module:   openAI.module,
	dialect:  dialect.AzureOpenAI,
	model:    "gpt-4o",
	client:   "`option.WithHTTPClient(client)`, which `azure.WithAPIKey` wraps once more",
	settings: "as `openai-go`",
	connect: func(c *http.Client, bare bool) (calls, error) {
		return chats(bare, option.WithHTTPClient(c), oaiazure.WithAPIKey(secret), oaiazure.WithEndpoint(azureHost, azureVersion)), nil
	},
	says: answers{
		once: azureAnswers.once, stream: chatAnswers.stream, busy: azureAnswers.busy, refused: azureAnswers.refused, tokens: azureAnswers.tokens,
	},
	refusal: openAIRefusal,
}

// chats are chat completions, with openai-go.
func chats(bare bool, opts ...option.RequestOption) calls {
	if !bare {
		opts = append(opts, option.WithMaxRetries(0))
	}
	client := openai.NewClient(opts...)
	ask := openai.ChatCompletionNewParams{
		Model:     "gpt-4o",
		MaxTokens: openai.Int(400),
		Messages:  []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Say hello.")},
	}
	return calls{
		once: func(ctx context.Context) error {
			_, err := client.Chat.Completions.New(ctx, ask)
			return err
		},
		stream: func(ctx context.Context) error {
			ask := ask
			ask.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
			s := client.Chat.Completions.NewStreaming(ctx, ask)
			defer s.Close()
			for s.Next() {
			}
			return s.Err()
		},
	}
}

var chatAnswers = answers{
	once: reply(200, `{"id":"c1","object":"chat.completion","model":"gpt-4o","choices":[{"index":0,"finish_reason":"stop",
		"message":{"role":"assistant","content":"Hello."}}],"usage":{"prompt_tokens":70,"completion_tokens":30,"total_tokens":100}}`),
	stream: open(chatStream), // the SDK closes it at "[DONE]"
	busy: reply(429, `{"error":{"message":"Rate limit reached for gpt-4o","type":"requests","param":null,"code":"rate_limit_exceeded"}}`,
		"Retry-After", "300"),
	refused: reply(401, `{"error":{"message":"Incorrect API key provided.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`),
	tokens:  100,
}

var chatStream = events(
	`{"id":"c1","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{"content":"Hello."}}],"usage":null}`,
	`{"id":"c1","object":"chat.completion.chunk","model":"gpt-4o","choices":[],"usage":{"prompt_tokens":70,"completion_tokens":30,"total_tokens":100}}`,
	`[DONE]`,
)

func openAIRefusal(err error) (refusal, bool) {
	e, ok := as[*openai.Error](err)
	if !ok {
		return refusal{}, false
	}
	return refusal{"*openai.Error", e.StatusCode, e.Response}, true
}
