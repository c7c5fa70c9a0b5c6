package dialect

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// azureOpenAI is https://RESOURCE.openai.azure.com. Sources: Microsoft's
// documentation of its quotas (quota.md) and Azure's SDK for Go.
//
// What is called a model is a deployment: limits belong to it, and its name is
// in the path, which the SDK writes there, or for the newer API in the body.
// The keys of a resource share its deployments, so the resource is the account.
// A token of Entra changes by the hour and identifies nobody, so without a key
// the resource is the credential too.
//
// A full reset in seconds is, beside Retry-After, the only hint that some
// answers have; it is an upper bound, and used last.
var azureOpenAI = &vendor{
	name:      "azure_openai",
	key:       headerKey("Api-Key"),
	account:   func(r *http.Request) string { return r.URL.Host },
	model:     azureDeployment,
	setModel:  azureSetDeployment,
	modelAt:   "model",
	caps:      openAI.caps,
	choices:   openAI.choices,
	reserves:  true,
	tokens:    true,
	inputOnly: openAI.inputOnly,

	busyScope: throttle.ScopeModel,
	codes:     []string{"error.code", "error.type", "error.innererror.code", "response.error.code", "code"},
	messages:  []string{"error.message", "response.error.message", "message"},
	signs:     openAI.signs,
	unnamed:   throttle.ServerError,
	wait:      azureWait,
	usage:     openAIUsage,
	shown:     azureShown,
	rules: in([]rule{
		{at: "error.code", is: []string{"DeploymentNotFound"}, class: throttle.ModelDenied},
		{at: "error.code", is: []string{"content_filter"}, class: throttle.BadRequest},
		{status: 403, says: []string{"out of call volume quota"}, class: throttle.Busy, about: theKey}, // until it is reset
		{status: 403, says: []string{"firewall"}, class: throttle.KeyRefused},
		{status: 429, says: []string{"experiencing high demand"}, class: throttle.Overloaded, undone: true},
	}, openAIRules),
}

// azureDeployment reads it from "/openai/deployments/NAME/chat/completions".
func azureDeployment(r *http.Request) string {
	_, rest, _ := strings.Cut(r.URL.EscapedPath(), "/deployments/")
	name, _, _ := strings.Cut(rest, "/")
	return unescaped(name)
}

// azureSetDeployment leaves what follows the name.
func azureSetDeployment(escaped, model string) string {
	before, rest, _ := strings.Cut(escaped, "/deployments/")
	_, after, more := strings.Cut(rest, "/")
	if more {
		after = "/" + after
	}
	return before + "/deployments/" + escapeSegment(model) + after
}

// unescaped is url.PathUnescape for names that are better kept as they are
// than lost.
func unescaped(segment string) string {
	if name, err := url.PathUnescape(segment); err == nil {
		return name
	}
	return segment
}

// azureResets are in seconds. The second spelling occurs.
var azureResets = []string{
	"X-Ratelimit-Reset-Tokens", "X-Rate-Limit-Reset-Tokens", "X-Ratelimit-Reset-Requests", "X-Rate-Limit-Reset-Requests",
}

func azureWait(a *answer) (time.Duration, bool) {
	for _, name := range azureResets {
		if d, ok := pause.Until(a.resp.Header.Get(name), a.now); ok {
			return d, true
		}
	}
	return 0, false
}
