package sdktest

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"

	"github.com/headgate-go/headgate/dialect"
)

const (
	azureHost    = "https://acme.openai.azure.com"
	azureVersion = "2024-10-21"
)

var azure = sdk{
	name:     "azcore",
	module:   "github.com/Azure/azure-sdk-for-go/sdk/azcore",
	dialect:  dialect.AzureOpenAI,
	model:    "gpt-4o",
	client:   "`policy.ClientOptions.Transport`",
	settings: "none: leave denials errors, which say that they can't be retried. As responses it waits for `Retry-After` up to a minute and comes again",
	connect: func(c *http.Client, _ bool) (calls, error) {
		p := runtime.NewPipeline("headgate", "v0", runtime.PipelineOptions{
			PerRetry: []policy.Policy{runtime.NewKeyCredentialPolicy(azcore.NewKeyCredential(secret), "Api-Key", nil)},
		}, &policy.ClientOptions{Transport: c})
		return calls{
			once:   func(ctx context.Context) error { return azureChat(ctx, p, false) },
			stream: func(ctx context.Context) error { return azureChat(ctx, p, true) },
		}, nil
	},
	says: azureAnswers,
	refusal: func(err error) (refusal, bool) {
		e, ok := as[*azcore.ResponseError](err)
		if !ok {
			return refusal{}, false
		}
		return refusal{"*azcore.ResponseError", e.StatusCode, e.RawResponse}, true
	},
}

// azureChat is a chat completion as a client on top of azcore sends it.
func azureChat(ctx context.Context, p runtime.Pipeline, stream bool) error {
	req, err := runtime.NewRequest(ctx, http.MethodPost, azureHost+"/openai/deployments/gpt-4o/chat/completions?api-version="+azureVersion)
	if err != nil {
		return err
	}
	text := `{"max_tokens":400,"messages":[{"role":"user","content":"Say hello."}]}`
	if stream {
		runtime.SkipBodyDownload(req)
		text = `{"stream":true,"stream_options":{"include_usage":true},` + text[1:]
	}
	if err := req.SetBody(streaming.NopCloser(strings.NewReader(text)), "application/json"); err != nil {
		return err
	}
	resp, err := p.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if !runtime.HasStatusCode(resp, http.StatusOK) {
		return runtime.NewResponseError(resp)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

var azureAnswers = answers{
	once:    chatAnswers.once,
	stream:  chatStream,
	busy:    reply(429, `{"error":{"code":"429","message":"Requests to the deployment have exceeded the token rate limit."}}`, "Retry-After", "300"),
	refused: reply(401, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`),
	tokens:  chatAnswers.tokens,
}
