package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
)

// A vendor speaks OpenAI's chat completions on the loopback interface, and
// takes a word to be a token.
type vendor struct {
	*httptest.Server
	silent bool // reports no usage
}

func startVendor() *vendor {
	v := &vendor{}
	v.Server = httptest.NewServer(http.HandlerFunc(v.complete))
	return v
}

// place has a budget that holds two estimates: a third call fits because the
// others gave back what they didn't use.
func (v *vendor) place() place {
	return place{name: "a loopback vendor", url: v.URL + "/v1/", key: "none", budget: 900}
}

var replies = map[string]string{
	questions[0]: "Hello, and welcome!",
	questions[1]: "Two, three and five.",
	questions[2]: "A jar of permits, refilled steadily.",
}

func (v *vendor) complete(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) == 0 {
		http.Error(w, `{"error":{"message":"no messages","type":"invalid_request_error"}}`, http.StatusBadRequest)
		return
	}
	question := asked.Messages[0].Content
	words := strings.SplitAfter(replies[question], " ")
	w.Header().Set("Content-Type", "text/event-stream")
	for _, word := range words {
		event(w, fmt.Sprintf(`"choices":[{"index":0,"delta":{"content":%q}}]`, word))
	}
	if !v.silent {
		in, out := len(strings.Fields(question)), len(words)
		event(w, fmt.Sprintf(`"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, in, out, in+out))
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// event sends one chunk off.
func event(w http.ResponseWriter, fields string) {
	fmt.Fprintf(w, "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":%q,%s}\n\n", model, fields)
	w.(http.Flusher).Flush()
}
