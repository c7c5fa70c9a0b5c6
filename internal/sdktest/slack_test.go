package sdktest

import (
	"context"
	"net/http"

	"github.com/slack-go/slack"

	"github.com/headgate-go/headgate/dialect"
)

var slackSDK = sdk{
	name:     "slack-go",
	module:   "github.com/slack-go/slack",
	dialect:  dialect.Slack,
	model:    "chat.postMessage",
	client:   "`slack.OptionHTTPClient(client)`",
	settings: "none; its own retries (`OptionRetry`) are off unless asked for",
	connect: func(c *http.Client, _ bool) (calls, error) {
		client := slack.New(secret, slack.OptionHTTPClient(c))
		return calls{once: func(ctx context.Context) error {
			_, _, err := client.PostMessageContext(ctx, "C1", slack.MsgOptionText("Hello.", false))
			return err
		}}, nil
	},
	says: answers{
		once:    reply(200, `{"ok":true,"channel":"C1","ts":"1.000001","message":{"text":"Hello."}}`),
		busy:    reply(429, `{"ok":false,"error":"ratelimited"}`, "Retry-After", "300"),
		refused: reply(200, `{"ok":false,"error":"token_revoked"}`),
	},
	refusal: func(err error) (refusal, bool) {
		if _, ok := as[*slack.RateLimitedError](err); ok {
			return refusal{kind: "*slack.RateLimitedError", status: http.StatusTooManyRequests}, true
		}
		if e, ok := as[slack.SlackErrorResponse](err); ok {
			return refusal{kind: "slack.SlackErrorResponse: " + e.Err, status: http.StatusOK}, true
		}
		e, ok := as[slack.StatusCodeError](err)
		return refusal{kind: "slack.StatusCodeError", status: e.Code}, ok
	},
}
