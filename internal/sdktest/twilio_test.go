package sdktest

import (
	"context"
	"net/http"

	twilioclient "github.com/twilio/twilio-go/client"
	api "github.com/twilio/twilio-go/rest/api/v2010"

	"github.com/headgate-go/headgate/dialect"
)

const twilioSID = "AC00000000000000000000000000000001"

var twilioSDK = sdk{
	name:     "twilio-go",
	module:   "github.com/twilio/twilio-go",
	dialect:  dialect.Twilio,
	model:    "",
	client:   "`client.Client{HTTPClient: client}` as `ClientParams.Client`",
	settings: "give the client a `Timeout` longer than its lane waits. It takes no context, so its calls are live: for a lane, set it in a RoundTripper of yours before the transport",
	connect: func(c *http.Client, _ bool) (calls, error) {
		inner := &twilioclient.Client{Credentials: twilioclient.NewCredentials(twilioSID, secret), HTTPClient: c}
		inner.SetAccountSid(twilioSID)
		// What twilio.RestClient has as its Api. The rest of that is a package for
		// each of Twilio's products, and takes minutes to compile.
		rest := api.NewApiServiceWithClient(inner)
		return calls{once: func(context.Context) error {
			_, err := rest.CreateMessage((&api.CreateMessageParams{}).SetTo("+15550100").SetFrom("+15550199").SetBody("Hello."))
			return err
		}}, nil
	},
	says: answers{
		once:    reply(201, `{"sid":"SM1","status":"queued","account_sid":"`+twilioSID+`"}`),
		busy:    reply(429, `{"code":20429,"message":"Too Many Requests","more_info":"https://www.twilio.com/docs/errors/20429","status":429}`),
		refused: reply(401, `{"code":20003,"message":"Authenticate","more_info":"https://www.twilio.com/docs/errors/20003","status":401}`),
	},
	refusal: func(err error) (refusal, bool) {
		e, ok := as[*twilioclient.TwilioRestError](err)
		if !ok {
			return refusal{}, false
		}
		return refusal{kind: "*client.TwilioRestError", status: e.Status}, true
	},
}
