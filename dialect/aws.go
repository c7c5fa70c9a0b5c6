package dialect

import (
	"net/http"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// Where AWS' services have the type of an error, "ThrottlingException": in a
// header or in the body, which is JSON or, of the older services, XML.
const (
	awsErrorType = "X-Amzn-Errortype"
	awsBodyType  = "__type"
)

var (
	awsCodes    = []string{awsBodyType, "code", xmlCode}
	awsMessages = []string{"message", "Message", xmlMessage}
)

// awsBusy are the types that mean "too fast". Source: the AWS SDK for Go,
// aws/retry, DefaultThrottleErrorCodes.
var awsBusy = []string{
	"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException", "RequestThrottled",
	"TooManyRequestsException", "ProvisionedThroughputExceededException", "TransactionInProgressException",
	"RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException", "SlowDown", "PriorRequestNotComplete",
	"KMSThrottling", "KMSThrottlingException",
}

// awsRefused are the types that mean the credential. An invalid signature isn't
// among them: it comes from a wrong clock, or from a request that was held for
// longer than five minutes after it was signed.
var awsRefused = []string{
	"UnrecognizedClientException", "InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException",
	"MissingAuthenticationToken", "MissingAuthenticationTokenException",
}

var awsBad = []string{"InvalidSignatureException", "SignatureDoesNotMatch", "RequestExpired", "IncompleteSignature"}

// awsRules returns rules by the type of an error, wherever it stands.
func awsRules(class throttle.Class, types ...string) []rule {
	var rules []rule
	for _, at := range append([]string{awsErrorType}, awsCodes...) {
		rules = append(rules, rule{at: at, is: types, class: class})
	}
	return rules
}

var awsCommonRules = in(
	awsRules(throttle.Busy, awsBusy...),
	awsRules(throttle.KeyRefused, awsRefused...),
	awsRules(throttle.BadRequest, awsBad...),
)

// ses is Amazon's Simple Email Service, both versions of its API. A rate and a
// daily quota have the same error, only the text differs. Sources: its API
// reference, "Common errors" and SendEmail.
var ses = &vendor{
	name:        "ses",
	key:         awsKey,
	account:     awsAccount,
	busyScope:   throttle.ScopeKey,
	codes:       awsCodes,
	messages:    awsMessages,
	codeHeaders: []string{awsErrorType},
	xml:         true,
	rules: in(
		awsRules(throttle.KeyRefused, "AccountSuspendedException", "SendingPausedException", "AccountSendingPausedException"),
		awsCommonRules,
	),
}

// sns is Amazon's Simple Notification Service. Source: its API reference,
// "Common errors".
var sns = &vendor{
	name:        "sns",
	key:         awsKey,
	account:     awsAccount,
	busyScope:   throttle.ScopeKey,
	codes:       awsCodes,
	messages:    awsMessages,
	codeHeaders: []string{awsErrorType},
	xml:         true,
	rules: in(
		awsRules(throttle.KeyRefused, "AuthorizationError", "AuthorizationErrorException"),
		awsCommonRules,
	),
}

// awsKey returns the access key's id that a signature names, from header or
// query, or a bearer token: the signature itself differs from request to
// request.
func awsKey(r *http.Request) string {
	id, _, _ := strings.Cut(awsScope(r), "/")
	if id != "" {
		return id
	}
	return bare(r.Header.Get("Authorization"))
}

// awsScope returns what a signature is for: "ID/DATE/REGION/SERVICE/…".
func awsScope(r *http.Request) string {
	header := r.Header.Get("Authorization")
	if !strings.HasPrefix(header, "AWS4-") {
		return r.URL.Query().Get("X-Amz-Credential")
	}
	_, scope, _ := strings.Cut(header, "Credential=")
	scope, _, _ = strings.Cut(scope, ",")
	return strings.TrimSpace(scope)
}

// awsAccount keeps a key's regions apart, since limits are those of a region.
// The id isn't a secret, but goes on as a fingerprint all the same.
func awsAccount(r *http.Request) string {
	scope := strings.Split(awsScope(r), "/")
	if len(scope) < 3 || scope[0] == "" || scope[2] == "" {
		return ""
	}
	return string(throttle.FingerprintOf(scope[0])) + "/" + scope[2]
}
