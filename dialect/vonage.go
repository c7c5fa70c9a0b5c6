package dialect

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// vonage is https://rest.nexmo.com and https://api.nexmo.com. Sources:
// developer.vonage.com, "Troubleshooting SMS" and its catalogue of API errors.
//
// The SMS API answers 200 whatever happens, with a status for each part of the
// message; the others answer with problem details (RFC 7807). The credential is
// "KEY:SECRET", in whichever way it is sent; the key alone is the account. Of a
// JSON web token, which is made anew for each call, it is the application.
var vonage = &vendor{
	name:          "vonage",
	key:           vonageKey,
	bodyKey:       []string{"api_key", "api_secret"},
	accountBefore: ":",

	busyScope: throttle.ScopeKey,
	codes:     []string{vonageStatus, "type", "title"},
	messages:  []string{"messages.*.error-text", "detail"},
	signs:     []sign{{at: vonageStatus, not: "0"}},
	unnamed:   throttle.BadRequest,
	rules: []rule{
		{at: vonageStatus, is: []string{"4", "8"}, class: throttle.KeyRefused}, // credentials, barred
		{at: vonageStatus, is: []string{"9"}, class: throttle.CreditExhausted},
		{at: vonageStatus, is: []string{"1", "10"}, class: throttle.Busy}, // throughput, binds
		{at: vonageStatus, is: []string{"5"}, class: throttle.ServerError},
		{at: "type", is: []string{"*#low-balance", "*#out-of-credit"}, class: throttle.CreditExhausted}, // with 402 and 403
		{at: "type", is: []string{"*#rate-limit"}, class: throttle.Busy},
		{at: "type", is: []string{"*#unauthorized", "*#forbidden"}, class: throttle.KeyRefused},
	},
}

const vonageStatus = "messages.*.status"

func vonageKey(r *http.Request) string {
	if user, password, ok := r.BasicAuth(); ok {
		return user + ":" + password
	}
	if token := bare(r.Header.Get("Authorization")); token != "" {
		if application := claimOf(token, "application_id"); application != "" {
			return application
		}
		return token
	}
	query := r.URL.Query()
	if key := query.Get("api_key"); key != "" {
		return key + ":" + query.Get("api_secret")
	}
	return ""
}

// claimOf returns a claim of a JSON web token, "" where there is none. The
// signature is the vendor's to check.
func claimOf(token, name string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims map[string]any
	if json.Unmarshal(payload, &claims) != nil {
		return ""
	}
	claim, _ := claims[name].(string)
	return claim
}
