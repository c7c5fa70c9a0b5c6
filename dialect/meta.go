package dialect

import (
	"net/http"
	"time"

	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// whatsApp and metaGraph are https://graph.facebook.com. Sources:
// developers.facebook.com, WhatsApp's "Error codes" and the Graph API's "Rate
// limits". The error's code decides, since the same ones come with 400, 401, 403
// and 429.
var (
	whatsApp  = meta("whatsapp")
	metaGraph = meta("meta_graph")
)

func meta(name string) *vendor {
	return &vendor{
		name:      name,
		key:       metaToken,
		bodyKey:   []string{"access_token"},
		busyScope: throttle.ScopeKey,
		codes:     []string{"error.code", "error.error_subcode"},
		messages:  []string{"error.message"},
		rules:     metaRules,
		wait:      metaWait,
	}
}

var metaRules = []rule{
	{at: "error.code", is: []string{
		"4", "17", "32", "613", // of an app, a user, a page, a custom one
		"80000-80014", // of a business use case
		"130429",      // messages per second
	}, class: throttle.Busy},
	{at: "error.code", is: []string{"131056"}, class: throttle.Busy, about: theRequest}, // one recipient
	{at: "error.code", is: []string{"131042"}, class: throttle.CreditExhausted},
	{at: "error.code", is: []string{
		"190",           // the token
		"10", "200-299", // permissions
		"131031", "368", // the account is locked, or blocked
		"131048", // too many of its messages are taken for spam
	}, class: throttle.KeyRefused},
	{at: "error.code", is: []string{"2"}, class: throttle.Overloaded},
}

func metaToken(r *http.Request) string {
	if token := bare(r.Header.Get("Authorization")); token != "" {
		return token
	}
	return r.URL.Query().Get("access_token")
}

// metaWait reads the longest wait, in minutes, of the headers that show how
// much of a limit is used.
func metaWait(a *answer) (time.Duration, bool) {
	var most time.Duration
	for _, name := range []string{"X-Business-Use-Case-Usage", "X-Ad-Account-Usage", "X-App-Usage"} {
		if d, ok := pause.FromJSON([]byte(a.resp.Header.Get(name)), a.now); ok {
			most = max(most, d)
		}
	}
	return most, most > 0
}
