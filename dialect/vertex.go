package dialect

import (
	"net/http"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// vertex is https://REGION-aiplatform.googleapis.com, for Google's own models
// and for those of others that it serves. Sources: googleapis/api/error_reason
// and what Gemini's dialect names.
//
// Its access tokens change by the hour and identify nobody, so the project is
// the credential. Limits are those of a project in a region, so these two are
// the account. A refused token is refused for the project until a probe with a
// fresh one opens it.
var vertex = &vendor{
	name:        "vertex",
	key:         vertexProject,
	account:     vertexAccount,
	model:       googleModel,
	setModel:    googleSetModel,
	modelAt:     "model", // of its OpenAI-compatible endpoints
	modelPrefix: gemini.modelPrefix,
	caps:        gemini.caps,
	tokens:      true,
	inputOnly:   gemini.inputOnly,

	busyScope: throttle.ScopeModel,
	codes:     append([]string{"error.errors.*.reason", "error.type"}, gemini.codes...),
	figures:   gemini.figures,
	messages:  gemini.messages,
	signs:     gemini.signs,
	unnamed:   gemini.unnamed,
	wait:      gemini.wait,
	rules: in([]rule{
		{at: "error.details.*.reason", is: []string{"ACCESS_TOKEN_EXPIRED", "ACCESS_TOKEN_*"}, class: throttle.KeyRefused},
		{at: "error.details.*.reason", is: []string{"IAM_PERMISSION_DENIED"}, class: throttle.ModelDenied},
	}, geminiRules, anthropicRules, []rule{
		{status: 403, class: throttle.ModelDenied}, // of the publisher's model
	}),
	// Anthropic's first: both have usage.input_tokens, and Anthropic's is a part.
	usage: append(append([]usageField{}, anthropicUsage...), geminiUsage...),
}

// vertexProject returns "projects/P", from the path or from the header that
// names who pays. Where neither has one, as in express mode, there is a key.
func vertexProject(r *http.Request) string {
	if project := segmentAfter(r.URL.Path, "projects"); project != "" {
		return "projects/" + project
	}
	if project := r.Header.Get("X-Goog-User-Project"); project != "" {
		return "projects/" + project
	}
	if key := r.Header.Get("X-Goog-Api-Key"); key != "" {
		return key
	}
	return r.URL.Query().Get("key")
}

// vertexAccount returns "projects/P/locations/L".
func vertexAccount(r *http.Request) string {
	project, location := segmentAfter(r.URL.Path, "projects"), segmentAfter(r.URL.Path, "locations")
	if project == "" || location == "" {
		return ""
	}
	return "projects/" + project + "/locations/" + location
}

// segmentAfter returns the segment of a path that follows the named one.
func segmentAfter(path, name string) string {
	_, rest, _ := strings.Cut(path, "/"+name+"/")
	segment, _, _ := strings.Cut(rest, "/")
	return segment
}
