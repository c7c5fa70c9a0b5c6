package sdktest

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/headgate-go/headgate/dialect"
)

const claude = "anthropic.claude-3-haiku-20240307-v1:0"

var bedrock = sdk{
	name:     "bedrockruntime, Converse",
	module:   "github.com/aws/aws-sdk-go-v2/service/bedrockruntime",
	dialect:  dialect.Bedrock,
	model:    claude,
	client:   "`Options.HTTPClient`, or `config.WithHTTPClient(client)`",
	settings: "none: leave denials errors, which say that they can't be retried. As responses they are retried in spite of `Retry-After`",
	connect:  bedrockCalls(converse, converseStream),
	says: answers{
		once: reply(200, `{"output":{"message":{"role":"assistant","content":[{"text":"Hello."}]}},"stopReason":"end_turn",
			"metrics":{"latencyMs":1},"usage":{"inputTokens":70,"outputTokens":30,"totalTokens":100}}`),
		stream: frames(
			frame{"event", "messageStart", `{"role":"assistant"}`},
			frame{"event", "contentBlockDelta", `{"contentBlockIndex":0,"delta":{"text":"Hello."}}`},
			frame{"event", "contentBlockStop", `{"contentBlockIndex":0}`},
			frame{"event", "messageStop", `{"stopReason":"end_turn"}`},
			frame{"event", "metadata", `{"usage":{"inputTokens":70,"outputTokens":30,"totalTokens":100},"metrics":{"latencyMs":1}}`},
		),
		busy:    bedrockBusy,
		refused: bedrockRefused,
		tokens:  100,
	},
	insists: true,
	refusal: bedrockRefusal,
}

var bedrockInvoke = sdk{
	name:     "bedrockruntime, InvokeModel",
	module:   bedrock.module,
	dialect:  dialect.Bedrock,
	model:    claude,
	client:   bedrock.client,
	settings: bedrock.settings,
	connect:  bedrockCalls(invoke, invokeStream),
	says: answers{
		once: reply(200, `{"id":"m1","type":"message","role":"assistant","content":[{"type":"text","text":"Hello."}]}`,
			"X-Amzn-Bedrock-Input-Token-Count", "70", "X-Amzn-Bedrock-Output-Token-Count", "30"),
		stream: frames(
			chunk(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}`),
			chunk(`{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":70,"outputTokenCount":30}}`),
		),
		busy:    bedrockBusy,
		refused: bedrockRefused,
		tokens:  100,
	},
	insists: true,
	refusal: bedrockRefusal,
}

// bedrockCalls returns an sdk's connect for two operations of one client.
func bedrockCalls(once, stream func(context.Context, *bedrockruntime.Client) error) func(*http.Client, bool) (calls, error) {
	return func(c *http.Client, _ bool) (calls, error) {
		client := bedrockruntime.New(bedrockruntime.Options{
			Region:     "us-east-1",
			HTTPClient: c,
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: "AKIAEXAMPLE", SecretAccessKey: secret}, nil
			}),
		})
		return calls{
			once:   func(ctx context.Context) error { return once(ctx, client) },
			stream: func(ctx context.Context) error { return stream(ctx, client) },
		}, nil
	}
}

var (
	converseSays = []types.Message{{
		Role:    types.ConversationRoleUser,
		Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: "Say hello."}},
	}}
	converseUpTo = &types.InferenceConfiguration{MaxTokens: aws.Int32(400)}
	invokeSays   = []byte(`{"anthropic_version":"bedrock-2023-05-31","max_tokens":400,"messages":[{"role":"user","content":"Say hello."}]}`)
)

func converse(ctx context.Context, c *bedrockruntime.Client) error {
	_, err := c.Converse(ctx, &bedrockruntime.ConverseInput{ModelId: aws.String(claude), Messages: converseSays, InferenceConfig: converseUpTo})
	return err
}

func converseStream(ctx context.Context, c *bedrockruntime.Client) error {
	out, err := c.ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{ModelId: aws.String(claude), Messages: converseSays, InferenceConfig: converseUpTo})
	if err != nil {
		return err
	}
	defer out.GetStream().Close()
	for range out.GetStream().Events() {
	}
	return out.GetStream().Err()
}

func invoke(ctx context.Context, c *bedrockruntime.Client) error {
	_, err := c.InvokeModel(ctx, &bedrockruntime.InvokeModelInput{ModelId: aws.String(claude), Body: invokeSays})
	return err
}

func invokeStream(ctx context.Context, c *bedrockruntime.Client) error {
	out, err := c.InvokeModelWithResponseStream(ctx, &bedrockruntime.InvokeModelWithResponseStreamInput{ModelId: aws.String(claude), Body: invokeSays})
	if err != nil {
		return err
	}
	defer out.GetStream().Close()
	for range out.GetStream().Events() {
	}
	return out.GetStream().Err()
}

var (
	bedrockBusy    = reply(429, `{"message":"Too many requests, please wait before trying again."}`, "X-Amzn-ErrorType", "ThrottlingException")
	bedrockRefused = reply(403, `{"message":"The security token included in the request is invalid."}`, "X-Amzn-ErrorType", "UnrecognizedClientException")
)

func bedrockRefusal(err error) (refusal, bool) {
	e, ok := as[*awshttp.ResponseError](err)
	if !ok {
		return refusal{}, false
	}
	return refusal{"*awshttp.ResponseError", e.HTTPStatusCode(), e.Response.Response}, true
}

// A frame is one message of an AWS event stream.
type frame struct{ message, event, payload string }

// chunk is a frame of InvokeModelWithResponseStream, whose payload is JSON in
// base64 in JSON.
func chunk(text string) frame {
	return frame{"event", "chunk", `{"bytes":"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"}`}
}

// frames answers with an event stream, written by the SDK's own encoder.
func frames(list ...frame) http.HandlerFunc {
	pieces := make([]string, len(list))
	for i, f := range list {
		var b bytes.Buffer
		m := eventstream.Message{Payload: []byte(f.payload)}
		m.Headers.Set(":message-type", eventstream.StringValue(f.message))
		m.Headers.Set(":event-type", eventstream.StringValue(f.event))
		m.Headers.Set(":content-type", eventstream.StringValue("application/json"))
		if err := eventstream.NewEncoder().Encode(&b, m); err != nil {
			panic(err)
		}
		pieces[i] = b.String()
	}
	return write(http.StatusOK, pieces, "Content-Type", "application/vnd.amazon.eventstream")
}
