package sdktest

import (
	"context"
	"errors"
	"net/http"

	"github.com/headgate-go/headgate/dialect"
)

// An sdk is what the tests have to know of one.
type sdk struct {
	name    string
	module  string // its path, by which go.mod knows the version
	dialect dialect.Dialect
	model   string // of the calls below, as the dialect reads it

	// What docs/sdks.md says of it: where the client goes in, and what to set.
	client, settings string

	// connect returns calls that go through c: with the settings that
	// docs/sdks.md advises or, if bare, with the SDK's own defaults.
	connect func(c *http.Client, bare bool) (calls, error)
	says    answers
	// insists: even so it sends again after a 429, as often as it likes.
	insists bool
	// refusal finds the SDK's own error in err.
	refusal func(err error) (refusal, bool)
}

// calls are what is asked of an SDK. stream is nil where it has none.
type calls struct {
	once, stream func(context.Context) error
}

// answers are the vendor's. busy sets a pause, and refused is for a revoked
// key. tokens are the usage that the first two report; 0: none.
type answers struct {
	once, stream, busy, refused http.HandlerFunc
	tokens                      int64
}

// A refusal is what an SDK makes of an answer that isn't a 2xx.
type refusal struct {
	kind   string         // the type that errors.As finds
	status int            // 0: it doesn't tell
	resp   *http.Response // nil: it doesn't keep the answer
}

var sdks = []sdk{
	openAI, openAIAzure, anthropicSDK, gemini, bedrock, bedrockInvoke, azure, twilioSDK, stripeSDK, slackSDK,
}

// as is errors.As with a result.
func as[E error](err error) (E, bool) {
	var found E
	ok := errors.As(err, &found)
	return found, ok
}

// secret is every SDK's key. One of them wants nothing but letters and digits.
const secret = "SECRET0123456789"
