package dialect

import (
	"net/http"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// slack is https://slack.com/api. Sources: docs.slack.dev, "Rate limits" and
// the errors common to its methods.
//
// What is called a model is a method, "chat.postMessage": limits are those of a
// method, a workspace and an app, and a missing scope denies one method. Errors
// come with 200 and ok false.
var slack = &vendor{
	name:       "slack",
	key:        slackToken,
	bodyKey:    []string{"token"},
	model:      slackMethod,
	byEndpoint: true,

	busyScope: throttle.ScopeModel,
	codes:     []string{"error"},
	signs:     []sign{{at: "ok", is: "false"}},
	unnamed:   throttle.BadRequest,
	rules: []rule{
		{at: "error", is: []string{"ratelimited", "rate_limited", "message_limit_exceeded"}, class: throttle.Busy},
		{at: "error", is: []string{"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"}, class: throttle.KeyRefused},
		{at: "error", is: []string{"missing_scope", "not_allowed_token_type", "no_permission"}, class: throttle.ModelDenied},
		{at: "error", is: []string{"internal_error", "fatal_error"}, class: throttle.ServerError},
		{at: "error", is: []string{"service_unavailable"}, class: throttle.Overloaded},
	},
}

func slackToken(r *http.Request) string {
	if token := bare(r.Header.Get("Authorization")); token != "" {
		return token
	}
	return r.URL.Query().Get("token")
}

func slackMethod(r *http.Request) string {
	_, method, _ := strings.Cut(r.URL.Path, "/api/")
	return strings.Trim(method, "/")
}
