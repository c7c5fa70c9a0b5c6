package dialect_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

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

// A countedBody counts what is done to it.
type countedBody struct {
	io.Reader
	reads, closes int
}

func (b *countedBody) Read(p []byte) (int, error) { b.reads++; return b.Reader.Read(p) }
func (b *countedBody) Close() error               { b.closes++; return nil }

func TestBodyWithGetBodyIsNotTouched(t *testing.T) {
	const text = `{"messages":[{"content":"Zürich ✓"}],"model":"m"}`
	r := post(t, "https://x/", text)
	own, copies := &countedBody{Reader: strings.NewReader(text)}, []*countedBody{}
	r.Body = own
	r.GetBody = func() (io.ReadCloser, error) {
		copies = append(copies, &countedBody{Reader: strings.NewReader(text)})
		return copies[len(copies)-1], nil
	}
	header := r.Header.Clone()
	asked := read(t, dialect.OpenAI, r)
	if asked.Model != "m" || asked.Body != nil {
		t.Errorf("%+v, want model m and no body", asked)
	}
	if own.reads+own.closes > 0 {
		t.Errorf("the body was read %d and closed %d times", own.reads, own.closes)
	}
	for i, c := range copies {
		if c.closes != 1 {
			t.Errorf("copy %d was closed %d times, want once", i, c.closes)
		}
	}
	if r.Body != io.ReadCloser(own) || r.ContentLength != int64(len(text)) || len(r.Header) != len(header) {
		t.Error("the request was modified")
	}
}

// azcore's GetBody rewinds the one body there is, which is also what the
// request's Body reads from.
func TestGetBodyThatRewindsLosesNothing(t *testing.T) {
	const text = `{"messages":[{"content":"Zürich ✓"}],"model":"m"}`
	for name, wrap := range map[string]func(*countedBody) io.ReadCloser{
		"itself":        func(b *countedBody) io.ReadCloser { return b },
		"in a wrapping": func(b *countedBody) io.ReadCloser { return io.NopCloser(b) },
	} {
		t.Run(name, func(t *testing.T) {
			src := strings.NewReader(text)
			one := &countedBody{Reader: src}
			r := post(t, "https://x/", text)
			r.Body = &countedBody{Reader: one}
			r.GetBody = func() (io.ReadCloser, error) {
				_, err := src.Seek(0, io.SeekStart)
				return wrap(one), err
			}
			asked := read(t, dialect.OpenAI, r)
			sent := r.Body
			if asked.Body != nil {
				sent = asked.Body
			}
			got, err := io.ReadAll(sent)
			if asked.Model != "m" || string(got) != text || err != nil {
				t.Errorf("model %q, body %q, %v, want m and all of the body", asked.Model, got, err)
			}
			if one.closes > 0 {
				t.Error("the body was closed before it was sent")
			}
		})
	}
}

func TestBodyWithoutGetBodyIsPutBackTogether(t *testing.T) {
	fill := strings.Repeat("x", 3<<20)
	errBroken := errors.New("broken")
	tests := []struct {
		name, text string
		end        error
		model      string
	}{
		{"short", `{"model":"m"}`, io.EOF, "m"},
		{"empty", ``, io.EOF, ""},
		{"model in the first MiB", `{"model":"m","x":"` + fill + `"}`, io.EOF, "m"},
		{"model after it", `{"x":"` + fill + `","model":"m"}`, io.EOF, ""},
		{"not JSON", fill, io.EOF, ""},
		{"broken", `{"model":"m"`, errBroken, "m"},
		{"broken at once", ``, errBroken, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := strings.NewReader(tt.text)
			own := &countedBody{Reader: io.MultiReader(src, iotest.ErrReader(tt.end))}
			r := post(t, "https://x/", "")
			r.Body, r.GetBody, r.ContentLength = own, nil, int64(len(tt.text))
			asked := read(t, dialect.OpenAI, r)
			if asked.Model != tt.model {
				t.Errorf("model %q, want %q", asked.Model, tt.model)
			}
			if took := len(tt.text) - src.Len(); took > 1<<20 {
				t.Errorf("%d bytes were read, want at most 1 MiB", took)
			}
			got, err := io.ReadAll(asked.Body)
			if tt.end == io.EOF {
				tt.end = nil
			}
			if string(got) != tt.text || !errors.Is(err, tt.end) {
				t.Errorf("%d bytes and %v, want the %d sent and %v", len(got), err, len(tt.text), tt.end)
			}
			if asked.Body.Close(); own.closes != 1 {
				t.Errorf("the body was closed %d times, want once", own.closes)
			}
			if r.Body != io.ReadCloser(own) || r.ContentLength != int64(len(tt.text)) {
				t.Error("the request was modified")
			}
		})
	}
}

func TestGetBodyThatFailsLeavesTheBodyItself(t *testing.T) {
	r := post(t, "https://x/", `{"model":"m"}`)
	r.GetBody = func() (io.ReadCloser, error) { return nil, errors.New("gone") }
	asked := read(t, dialect.OpenAI, r)
	if got, _ := io.ReadAll(asked.Body); asked.Model != "m" || string(got) != `{"model":"m"}` {
		t.Errorf("model %q and body %q", asked.Model, got)
	}
}

func TestLargeBodyIsGuessedByItsLength(t *testing.T) {
	r := post(t, "https://x/", "")
	text := `{"model":"m","x":"` + strings.Repeat("word ", 1<<19) + `"}`
	r.Body, r.GetBody, r.ContentLength = io.NopCloser(strings.NewReader(text)), nil, int64(len(text))
	if got := read(t, dialect.OpenAI, r).Guess.InputTokens; got != in(text) {
		t.Errorf("guess of %d tokens, want %d", got, in(text))
	}
	lying := post(t, "https://x/", `{"model":"m"}`)
	lying.ContentLength = math.MaxInt64
	if got := read(t, dialect.OpenAI, lying).Guess.InputTokens; got < 0 || got > throttle.MaxAmount {
		t.Errorf("guess of %d tokens for an absurd length", got)
	}
}

func TestBodyThatStallsHoldsUpReadingForASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pr, pw := io.Pipe()
		go pw.Write([]byte(`{"model":"m","messages":[`))
		r := post(t, "https://x/", "")
		r.Body, r.GetBody = pr, nil
		asked := read(t, dialect.OpenAI, r) // the bubble's clock jumps over the second
		if asked.Model != "m" {
			t.Errorf("model %q, want m", asked.Model)
		}
		go func() {
			pw.Write([]byte(`]}`))
			pw.Close()
		}()
		got, err := io.ReadAll(asked.Body)
		if want := `{"model":"m","messages":[]}`; string(got) != want || err != nil {
			t.Errorf("body %q, %v, want %q", got, err, want)
		}
	})
}

func TestEndedContextEndsReadingOfTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		pr, _ := io.Pipe()
		r := post(t, "https://x/", "").WithContext(ctx)
		r.Body, r.GetBody = pr, nil
		asked := read(t, dialect.OpenAI, r)
		if err := asked.Body.Close(); err != nil {
			t.Error(err)
		}
		if n, err := asked.Body.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("read of a closed body: %d, %v, want an error", n, err)
		}
	})
}

func TestByNameFindsEveryDialect(t *testing.T) {
	for _, name := range dialect.Names() {
		if d, ok := dialect.ByName(name); !ok || d.Name() != name {
			t.Errorf("ByName(%q) = %v, %v", name, d, ok)
		}
	}
	for _, row := range vendorRows(t) {
		if _, ok := dialect.ByName(row.Vendor); !ok {
			t.Errorf("no dialect for %s", row.Vendor)
		}
	}
	for _, name := range []string{"", "OpenAI", "azure"} {
		if _, ok := dialect.ByName(name); ok {
			t.Errorf("ByName finds %q", name)
		}
	}
}

func TestNewOverridesWhatItSays(t *testing.T) {
	const body = `{"model":"m","max_tokens":5}`
	own := dialect.New("own", dialect.OpenAI, dialect.Custom{
		Key:     func(r *http.Request) string { return r.Header.Get("X-Own") },
		Account: func(*http.Request) string { return "acme" },
		Model:   func(*http.Request) string { return "theirs" },
		Cost: func(_ *http.Request, c throttle.Cost) throttle.Cost {
			c.Points, c.InputTokens = 7, 9
			return c
		},
	})
	asked := read(t, own, post(t, "https://x/", body, "X-Own", "k", "Authorization", "Bearer sk"))
	want := dialect.Request{
		Credential: "k", Account: "acme", Model: "theirs",
		Cost: throttle.Cost{Requests: 1, InputTokens: 9, OutputTokens: 5, Points: 7}, // stated now, not guessed
	}
	if own.Name() != "own" || asked != want {
		t.Errorf("%s: %+v, want %+v", own.Name(), asked, want)
	}
	again := dialect.New("again", own, dialect.Custom{Model: func(*http.Request) string { return "" }})
	if got := read(t, again, post(t, "https://x/", body, "X-Own", "k")); got.Credential != "k" || got.Model != "" || got.Cost.Points != 7 {
		t.Errorf("over an own one: %+v", got)
	}
	plain := dialect.New("plain", nil, dialect.Custom{})
	if got := read(t, plain, post(t, "https://x/", body)); got.Model != "m" || got.Guess != (throttle.Cost{}) {
		t.Errorf("over nothing: %+v, want what Generic reads", got)
	}
	if got := read(t, dialect.OpenAI, post(t, "https://x/", body)); got.Model != "m" || got.Account != "" {
		t.Errorf("the base changed: %+v", got)
	}
}

func TestOwnEstimateThatChangesNothingStaysAGuess(t *testing.T) {
	own := dialect.New("own", dialect.OpenAI, dialect.Custom{Cost: func(_ *http.Request, c throttle.Cost) throttle.Cost { return c }})
	r := post(t, "https://x/", `{"model":"m"}`)
	if got, want := read(t, own, r), read(t, dialect.OpenAI, r); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestPanicOfACustomFunctionReachesTheCaller(t *testing.T) {
	own := dialect.New("own", nil, dialect.Custom{Key: func(*http.Request) string { panic("own") }})
	defer func() {
		if p := recover(); p != "own" {
			t.Errorf("recovered %v, want own", p)
		}
	}()
	_, _ = dialect.Read(own, post(t, "https://x/", "{}"))
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
