package sdktest

import (
	"context"
	"net/http"

	"google.golang.org/genai"

	"github.com/headgate-go/headgate/dialect"
)

var gemini = sdk{
	name:     "genai",
	module:   "google.golang.org/genai",
	dialect:  dialect.Gemini,
	model:    "gemini-2.5-flash",
	client:   "`ClientConfig.HTTPClient`",
	settings: "none; but `HTTPOptions.RetryOptions` retries denials in either form",
	connect:  func(c *http.Client, _ bool) (calls, error) { return contents(c, nil) },
	says: answers{
		once: reply(200, `{"candidates":[{"content":{"role":"model","parts":[{"text":"Hello."}]},"finishReason":"STOP"}],
			"usageMetadata":{"promptTokenCount":70,"candidatesTokenCount":20,"thoughtsTokenCount":10,"totalTokenCount":100}}`),
		stream: events(
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"Hel"}]}}],"usageMetadata":{"promptTokenCount":70,"totalTokenCount":70}}`,
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"lo."}]},"finishReason":"STOP"}],
				"usageMetadata":{"promptTokenCount":70,"candidatesTokenCount":20,"thoughtsTokenCount":10,"totalTokenCount":100}}`,
		),
		busy: reply(429, `{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED",
			"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"300s"}]}}`),
		refused: reply(400, `{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT",
			"details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}]}}`),
		tokens: 100,
	},
	refusal: func(err error) (refusal, bool) {
		e, ok := as[genai.APIError](err)
		return refusal{kind: "genai.APIError", status: e.Code}, ok
	},
}

func contents(c *http.Client, retries *genai.HTTPRetryOptions) (calls, error) {
	const model = "gemini-2.5-flash"
	client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
		APIKey:      secret,
		Backend:     genai.BackendGeminiAPI,
		HTTPClient:  c,
		HTTPOptions: genai.HTTPOptions{BaseURL: "https://generativelanguage.googleapis.com/", RetryOptions: retries},
	})
	if err != nil {
		return calls{}, err
	}
	return calls{
		once: func(ctx context.Context) error {
			_, err := client.Models.GenerateContent(ctx, model, genai.Text("Say hello."), nil)
			return err
		},
		stream: func(ctx context.Context) error {
			for _, err := range client.Models.GenerateContentStream(ctx, model, genai.Text("Say hello."), nil) {
				if err != nil {
					return err
				}
			}
			return nil
		},
	}, nil
}
