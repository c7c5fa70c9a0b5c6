package dialect_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// post returns a JSON request as http.NewRequest makes it. Headers come as
// pairs of name and value.
func post(t testing.TB, url, body string, headers ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func read(t *testing.T, d dialect.Dialect, r *http.Request) dialect.Request {
	t.Helper()
	asked, err := dialect.Read(d, r)
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// in is the input that is guessed for a body of n bytes.
func in(body string) int64 { return int64(len(body)+3) / 4 }

func TestOpenAIReservesTheCapOfTheOutput(t *testing.T) {
	const chat = "https://api.openai.com/v1/chat/completions"
	tests := []struct {
		name, url, body string
		model           string
		stated, guessed int64 // output
	}{
		{"no cap", chat, `{"model":"gpt-4o","messages":[]}`, "gpt-4o", 0, 1024},
		{"max_tokens", chat, `{"model":"gpt-4o","max_tokens":500}`, "gpt-4o", 500, 0},
		{"max_completion_tokens", chat, `{"max_completion_tokens":700,"model":"gpt-4o"}`, "gpt-4o", 700, 0},
		{"max_output_tokens", "https://api.openai.com/v1/responses", `{"model":"gpt-4o","max_output_tokens":4000}`, "gpt-4o", 4000, 0},
		{"contradictory caps: the larger", chat, `{"model":"m","max_tokens":1,"max_completion_tokens":2000}`, "m", 2000, 0},
		{"and in the other order", chat, `{"max_completion_tokens":2000,"max_tokens":1,"model":"m"}`, "m", 2000, 0},
		{"several answers", chat, `{"model":"m","max_tokens":100,"n":3}`, "m", 300, 0},
		{"several answers without a cap", chat, `{"model":"m","n":3}`, "m", 0, 3072},
		{"an absurd number of answers", chat, `{"model":"m","max_tokens":100,"n":1e18}`, "m", 12_800, 0},
		{"cap within a message", chat, `{"model":"m","messages":[{"max_tokens":9}]}`, "m", 0, 1024},
		{"huge", chat, `{"model":"m","max_tokens":9e18,"n":9e18}`, "m", 2 * throttle.MaxAmount, 0},
		{"a string", chat, `{"model":"m","max_tokens":"100"}`, "m", 100, 0},
		{"an exponent in a string", chat, `{"model":"m","max_tokens":"1e5"}`, "m", 100_000, 0},
		{"a fraction", chat, `{"model":"m","max_tokens":12.7}`, "m", 13, 0},
		{"null", chat, `{"model":"m","max_tokens":null}`, "m", 0, 1024},
		{"negative", chat, `{"model":"m","max_tokens":-1}`, "m", 0, 1024},
		{"embeddings put out nothing", "https://api.openai.com/v1/embeddings", `{"model":"e","input":"abc"}`, "e", 0, 0},
		{"another path", "https://gateway.example/", `{"model":"m","max_tokens":5}`, "m", 5, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := read(t, dialect.OpenAI, post(t, tt.url, tt.body, "Authorization", "Bearer sk-1"))
			want := dialect.Request{
				Credential: "sk-1", Model: tt.model,
				Cost:  throttle.Cost{Requests: 1, OutputTokens: tt.stated},
				Guess: throttle.Cost{InputTokens: in(tt.body), OutputTokens: tt.guessed},
			}
			if asked != want {
				t.Errorf("%+v, want %+v", asked, want)
			}
		})
	}
}

func TestAnthropicAndGeminiOnlyGuessTheOutput(t *testing.T) {
	const messages = "https://api.anthropic.com/v1/messages"
	const google = "https://generativelanguage.googleapis.com/v1beta/"
	tests := []struct {
		name    string
		dialect dialect.Dialect
		url     string
		body    string
		model   string
		guessed int64 // output
	}{
		{"a large cap", dialect.Anthropic, messages, `{"model":"claude-x","max_tokens":64000}`, "claude-x", 1024},
		{"a small cap", dialect.Anthropic, messages, `{"model":"claude-x","max_tokens":10}`, "claude-x", 10},
		{"no cap", dialect.Anthropic, messages, `{"model":"claude-x"}`, "claude-x", 1024},
		{"counting", dialect.Anthropic, messages + "/count_tokens", `{"model":"claude-x"}`, "claude-x", 0},
		{"Gemini", dialect.Gemini, google + "models/gemini-2.5-flash:generateContent", `{"contents":[]}`, "gemini-2.5-flash", 1024},
		{"streaming", dialect.Gemini, google + "models/gemini-2.5-flash:streamGenerateContent?alt=sse", `{}`, "gemini-2.5-flash", 1024},
		{"capped", dialect.Gemini, google + "models/g:generateContent", `{"generationConfig":{"maxOutputTokens":7}}`, "g", 7},
		{"capped, other spelling", dialect.Gemini, google + "models/g:generateContent", `{"generation_config":{"max_output_tokens":7}}`, "g", 7},
		{"tuned", dialect.Gemini, google + "tunedModels/mine:generateContent", `{}`, "tunedModels/mine", 1024},
		{"escaped", dialect.Gemini, google + "models/a%2Fb%3Ac:generateContent", `{}`, "a/b:c", 1024},
		{"embedding", dialect.Gemini, google + "models/e:embedContent", `{"model":"models/x"}`, "e", 0},
		{"counting", dialect.Gemini, google + "models/g:countTokens", `{}`, "g", 0},
		{"compatible with OpenAI", dialect.Gemini, google + "openai/chat/completions", `{"model":"models/g","max_tokens":5}`, "g", 5},
		{"no method of a model", dialect.Gemini, google + "corpora/c:query", `{"model":"m"}`, "m", 1024},
		{"badly escaped", dialect.Gemini, "https://x/models/a%2525zz:generateContent", `{}`, "a%25zz", 1024},
		{"of Vertex' form", dialect.Gemini, "https://x/v1/projects/p/locations/l/publishers/google/models/g:generateContent", `{}`, "g", 1024},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			asked := read(t, tt.dialect, post(t, tt.url, tt.body))
			wantGuess := throttle.Cost{InputTokens: in(tt.body), OutputTokens: tt.guessed}
			if asked.Model != tt.model || asked.Cost != (throttle.Cost{Requests: 1}) || asked.Guess != wantGuess {
				t.Errorf("%+v, want model %q, one request and a guess of %+v", asked, tt.model, wantGuess)
			}
		})
	}
}

func TestCredentialIsFoundWhereTheVendorHasIt(t *testing.T) {
	const url = "https://api.example/v1/x"
	tests := []struct {
		name    string
		dialect dialect.Dialect
		url     string
		headers []string
		want    string
	}{
		{"OpenAI", dialect.OpenAI, url, []string{"Authorization", "Bearer sk-1"}, "sk-1"},
		{"scheme in lower case", dialect.OpenAI, url, []string{"Authorization", "bearer  sk-1 "}, "sk-1"},
		{"none", dialect.OpenAI, url, nil, "https://api.example"},
		{"empty", dialect.OpenAI, url, []string{"Authorization", "Bearer "}, "https://api.example"},
		{"Anthropic", dialect.Anthropic, url, []string{"X-Api-Key", "sk-ant"}, "sk-ant"},
		{"Anthropic's bearer", dialect.Anthropic, url, []string{"Authorization", "Bearer oat"}, "oat"},
		{"Anthropic with both", dialect.Anthropic, url, []string{"Authorization", "Bearer oat", "X-Api-Key", "sk-ant"}, "sk-ant"},
		{"Gemini", dialect.Gemini, url, []string{"X-Goog-Api-Key", "AIza"}, "AIza"},
		{"Gemini's query", dialect.Gemini, url + "?alt=sse&key=AIza", nil, "AIza"},
		{"Gemini's bearer", dialect.Gemini, url, []string{"Authorization", "Bearer AIza"}, "AIza"},
		{"Twilio", dialect.Twilio, url, []string{"Authorization", "Basic QUMxOnNlY3JldA=="}, "Basic QUMxOnNlY3JldA=="},
		{"generic", dialect.Generic, url, []string{"Authorization", "AccessKey x"}, "AccessKey x"},
		{"generic header", dialect.Generic, url, []string{"X-Api-Key", "x"}, "x"},
		{"generic without any", dialect.Generic, "http://api.example:8080/v1", nil, "http://api.example:8080"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := read(t, tt.dialect, post(t, tt.url, "{}", tt.headers...)).Credential; got != tt.want {
				t.Errorf("credential %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTwilioHasAnAccountAndNoModel(t *testing.T) {
	const host = "https://api.twilio.com"
	tests := []struct{ name, url, user, want string }{
		{"by the user", host + "/v1/Services", "AC1", "AC1"},
		{"by the path", host + "/2010-04-01/Accounts/AC2/Messages.json", "SK1", "AC2"},
		{"the path is the one acted on", host + "/2010-04-01/Accounts/AC2.json", "AC1", "AC2"},
		{"an API key doesn't tell", host + "/v1/Services", "SK1", ""},
		{"no credential", host + "/v1/Services", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := post(t, tt.url, `From=%2B1555&To=%2B1556&Body=model`, "Content-Type", "application/x-www-form-urlencoded")
			if tt.user != "" {
				r.SetBasicAuth(tt.user, "secret")
			}
			asked := read(t, dialect.Twilio, r)
			if asked.Account != tt.want || asked.Model != "" || asked.Cost != (throttle.Cost{Requests: 1}) || asked.Guess != (throttle.Cost{}) {
				t.Errorf("%+v, want account %q, no model and one request", asked, tt.want)
			}
		})
	}
}

func TestRequestsWithoutAModelCostNoTokens(t *testing.T) {
	get, _ := http.NewRequest(http.MethodGet, "https://api.openai.com/v1/models", nil)
	upload := post(t, "https://api.openai.com/v1/files", `{"model":"m"}`, "Content-Type", "multipart/form-data; boundary=x")
	gzipped := post(t, "https://api.openai.com/v1/x", "\x1f\x8b\x08", "Content-Encoding", "gzip")
	tests := map[string]*http.Request{
		"GET":        get,
		"upload":     upload,
		"no model":   post(t, "https://api.openai.com/v1/x", `{"input":"`+strings.Repeat("x", 1000)+`"}`),
		"not JSON":   post(t, "https://api.openai.com/v1/x", "model=m"),
		"compressed": gzipped,
	}
	for name, r := range tests {
		t.Run(name, func(t *testing.T) {
			asked := read(t, dialect.OpenAI, r)
			if asked.Model != "" || asked.Cost != (throttle.Cost{Requests: 1}) || asked.Guess != (throttle.Cost{}) || asked.Body != nil {
				t.Errorf("%+v, want no model and one request", asked)
			}
		})
	}
}

func TestJSONIsFoundWithAnyContentTypeThatMayBeIt(t *testing.T) {
	for _, contentType := range []string{"application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.x+json", "application/json;;", ""} {
		asked := read(t, dialect.OpenAI, post(t, "https://x/", `{"model":"m"}`, "Content-Type", contentType))
		if asked.Model != "m" {
			t.Errorf("%q: model %q, want m", contentType, asked.Model)
		}
	}
}

func TestEmbeddedFilesDontCountByTheirSize(t *testing.T) {
	image := strings.Repeat("iVBORw0KGgo/", 100_000)
	body := `{"messages":[{"image_url":"data:image/png;base64,` + image + `"}],"model":"m"}`
	guess := read(t, dialect.OpenAI, post(t, "https://x/", body)).Guess.InputTokens
	if want := in(body[:len(body)-len(image)]) + 1000; guess != want {
		t.Errorf("guess of %d tokens for an image of %d bytes, want %d", guess, len(image), want)
	}
	prose := `{"model":"m","input":"` + strings.Repeat("word ", 100_000) + `"}`
	if got := read(t, dialect.OpenAI, post(t, "https://x/", prose)).Guess.InputTokens; got != in(prose) {
		t.Errorf("guess of %d tokens for prose, want %d", got, in(prose))
	}
}

func FuzzReadIsTheSameHoweverTheBodyComes(f *testing.F) {
	f.Add([]byte(`{"model":"m","max_tokens":5,"n":2}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		whole := post(t, "https://x/", string(body))
		pieces := post(t, "https://x/", "")
		pieces.Body, pieces.GetBody, pieces.ContentLength = io.NopCloser(iotest.OneByteReader(bytes.NewReader(body))), nil, -1
		a, b := read(t, dialect.OpenAI, whole), read(t, dialect.OpenAI, pieces)
		if got, err := io.ReadAll(b.Body); !bytes.Equal(got, body) || err != nil {
			t.Errorf("body %q, %v", got, err)
		}
		b.Body = nil
		if a.Model != b.Model || a.Cost != b.Cost || a.Cost.OutputTokens < 0 || a.Guess.InputTokens < 0 {
			t.Errorf("%+v whole, %+v in pieces", a, b)
		}
	})
}

func FuzzReadForm(f *testing.F) {
	f.Add([]byte("to=1&api_key=abc&text=Z%C3%BCrich&api_secret=secret"))
	f.Add([]byte("src=%zz&&=;"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range []dialect.Dialect{dialect.Vonage, dialect.Plivo, dialect.Slack, dialect.WhatsApp} {
			whole := post(t, "https://x/", string(body), "Content-Type", "application/x-www-form-urlencoded")
			pieces := post(t, "https://x/", "", "Content-Type", "application/x-www-form-urlencoded")
			pieces.Body, pieces.GetBody = io.NopCloser(iotest.HalfReader(bytes.NewReader(body))), nil
			a, b := read(t, d, whole), read(t, d, pieces)
			sent := io.Reader(pieces.Body)
			if b.Body != nil {
				sent = b.Body
			}
			if got, err := io.ReadAll(sent); !bytes.Equal(got, body) || err != nil {
				t.Errorf("%s: body %q, %v", d.Name(), got, err)
			}
			b.Body = nil
			if a != b {
				t.Errorf("%s: %+v whole, %+v in pieces", d.Name(), a, b)
			}
		}
	})
}
