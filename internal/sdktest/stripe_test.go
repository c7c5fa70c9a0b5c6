package sdktest

import (
	"context"
	"net/http"

	"github.com/stripe/stripe-go/v85"

	"github.com/headgate-go/headgate/dialect"
)

var stripeSDK = sdk{
	name:     "stripe-go",
	module:   "github.com/stripe/stripe-go/v85",
	dialect:  dialect.Stripe,
	model:    "POST /v1/customers",
	client:   "`BackendConfig.HTTPClient`, with `stripe.WithBackends`",
	settings: "`BackendConfig.MaxNetworkRetries` 0; or leave its retries and use `WithDeniedResponses`, which it doesn't retry",
	connect: func(c *http.Client, bare bool) (calls, error) {
		config := &stripe.BackendConfig{HTTPClient: c, LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull}}
		if !bare {
			config.MaxNetworkRetries = stripe.Int64(0)
		}
		client := stripe.NewClient(secret, stripe.WithBackends(stripe.NewBackendsWithConfig(config)))
		return calls{once: func(ctx context.Context) error {
			_, err := client.V1Customers.Create(ctx, &stripe.CustomerCreateParams{Email: stripe.String("jo@example.com")})
			return err
		}}, nil
	},
	says: answers{
		once: reply(200, `{"id":"cus_1","object":"customer","email":"jo@example.com"}`),
		busy: reply(429, `{"error":{"type":"invalid_request_error","code":"rate_limit","message":"Request rate limit exceeded."}}`,
			"Stripe-Rate-Limited-Reason", "global-rate"),
		refused: reply(401, `{"error":{"type":"invalid_request_error","message":"Invalid API Key provided."}}`),
	},
	refusal: func(err error) (refusal, bool) {
		e, ok := as[*stripe.Error](err)
		if !ok {
			return refusal{}, false
		}
		return refusal{kind: "*stripe.Error", status: e.HTTPStatusCode}, true
	},
}
