package dialect

import (
	"net/http"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// twilio is https://api.twilio.com and its sister hosts. Sources: its error
// dictionary and twilio-go's TwilioRestError and RestErrorV1.
//
// It limits how many requests of an account run at once, not their rate, and
// knows no models: Model is "", and a limit belongs to the account. The
// credential is the whole Authorization header, SID and secret, so that two
// tokens of one account are refused and probed apart; what they share hangs on
// Account.
var twilio = &vendor{
	name:    "twilio",
	key:     headerKey("Authorization"),
	account: twilioAccount,

	busyScope: throttle.ScopeKey,
	codes:     []string{"code"},
	messages:  []string{"message"},
	rules: []rule{
		{at: "code", is: []string{"20429"}, class: throttle.Busy},
		{at: "code", is: []string{"60212"}, class: throttle.BadRequest}, // too much for one recipient
		{at: "code", is: []string{"20003"}, class: throttle.KeyRefused},
		{at: "code", is: []string{
			"10001", "20005", // the account isn't active: no funds
			"63038", // its messages of 24 hours are used up
		}, class: throttle.CreditExhausted},
	},
}

// twilioAccount reads the account's SID from the path, "/2010-04-01/Accounts/
// AC…/Messages.json", or else from the user name. The user name may also be
// that of an API key, which doesn't tell the account.
func twilioAccount(r *http.Request) string {
	if _, rest, ok := strings.Cut(r.URL.Path, "/Accounts/"); ok {
		sid, _, _ := strings.Cut(rest, "/")
		sid = strings.TrimSuffix(sid, ".json")
		if isAccountSID(sid) {
			return sid
		}
	}
	if user, _, ok := r.BasicAuth(); ok && isAccountSID(user) {
		return user
	}
	return ""
}

func isAccountSID(s string) bool { return strings.HasPrefix(s, "AC") }
