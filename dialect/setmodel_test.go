package dialect_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-go/headgate/dialect"
)

func jsonPost(t testing.TB, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	return r
}

// Every place that a vendor has its model in can be written to as it is read.
func TestWithModelPutsTheModelWhereItIsRead(t *testing.T) {
	const vertex = "https://v.test/v1/projects/p/locations/l/publishers/"
	for name, c := range map[string]struct {
		d         dialect.Dialect
		url, body string
		model     string
		wantURL   string // "": as it was
		wantBody  string // "": as it was
	}{
		"chat":            {dialect.OpenAI, "https://v.test/v1/chat", `{ "model" : "a" , "n":1}`, "b", "", `{ "model" : "b" , "n":1}`},
		"longer":          {dialect.Anthropic, "https://v.test/v1/m", `{"x":"model","model":"a"}`, "a-longer-one", "", `{"x":"model","model":"a-longer-one"}`},
		"escaped key":     {dialect.OpenAI, "https://v.test/v1/m", `{"m\u006fdel":"a"}`, "b", "", `{"m\u006fdel":"b"}`},
		"quotes":          {dialect.OpenAI, "https://v.test/v1/m", `{"model":"a\"<&>\u2028"}`, `b"\<&>`, "", `{"model":"b\"\\<&>"}`},
		"twice":           {dialect.OpenAI, "https://v.test/v1/m", `{"model":"x","model":"a"}`, "b", "", `{"model":"b","model":"b"}`},
		"deeper ones":     {dialect.OpenAI, "https://v.test/v1/m", `{"m":{"model":"a"},"l":[{"model":"a"}],"model":"a"}`, "b", "", `{"m":{"model":"a"},"l":[{"model":"a"}],"model":"b"}`},
		"prefix":          {dialect.Gemini, "https://v.test/v1beta/openai/chat/completions", `{"model":"models/a"}`, "b", "", `{"model":"models/b"}`},
		"no prefix":       {dialect.Gemini, "https://v.test/v1beta/openai/chat/completions", `{"model":"a"}`, "b", "", `{"model":"b"}`},
		"sender":          {dialect.Plivo, "https://v.test/v1/m", `{"src":"+1","text":"ü"}`, "+2", "", `{"src":"+2","text":"ü"}`},
		"deployment":      {dialect.AzureOpenAI, "https://v.test/openai/deployments/a/chat/completions?api-version=1", `{"model":"a"}`, "b c", "https://v.test/openai/deployments/b%20c/chat/completions?api-version=1", ""},
		"Azure v1":        {dialect.AzureOpenAI, "https://v.test/openai/v1/chat/completions", `{"model":"a"}`, "b", "", `{"model":"b"}`},
		"Gemini":          {dialect.Gemini, "https://v.test/v1beta/models/a:generateContent?alt=sse", `{}`, "b", "https://v.test/v1beta/models/b:generateContent?alt=sse", ""},
		"Gemini to tuned": {dialect.Gemini, "https://v.test/v1beta/models/a:generateContent", `{}`, "tunedModels/b", "https://v.test/v1beta/tunedModels/b:generateContent", ""},
		"Gemini of tuned": {dialect.Gemini, "https://v.test/v1beta/tunedModels/a:generateContent", `{}`, "b", "https://v.test/v1beta/models/b:generateContent", ""},
		"Vertex":          {dialect.Vertex, vertex + "anthropic/models/a@1:rawPredict", `{}`, "b@2", vertex + "anthropic/models/b@2:rawPredict", ""},
		"Bedrock":         {dialect.Bedrock, "https://v.test/model/a-v1%3A0/converse", `{}`, "b-v1:0", "https://v.test/model/b-v1%3A0/converse", ""},
		"Bedrock to ARN":  {dialect.Bedrock, "https://v.test/model/a/invoke", `{}`, "arn:x:p/b", "https://v.test/model/arn%3Ax%3Ap%2Fb/invoke", ""},
		"Bedrock of ARN":  {dialect.Bedrock, "https://v.test/model/arn:x:p%2Fa/converse-stream", `{}`, "b", "https://v.test/model/b/converse-stream", ""},
		"Hugging Face":    {dialect.HuggingFace, "https://v.test/models/o/a", `{}`, "o/b c", "https://v.test/models/o/b%20c", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := jsonPost(t, c.url, c.body)
			if !dialect.SetsModel(c.d) {
				t.Error("SetsModel is false")
			}
			out, err := dialect.WithModel(c.d, r, c.model)
			if err != nil {
				t.Fatal(err)
			}
			checkRewritten(t, out, orElse(c.wantURL, c.url), orElse(c.wantBody, c.body), false)
			checkRewritten(t, r, c.url, c.body, c.wantURL != "") // r itself is as it was
			if asked, _ := dialect.Read(c.d, out); asked.Model != c.model || asked.Body != nil {
				t.Errorf("is read as %q, want %q", asked.Model, c.model)
			}
		})
	}
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

func checkRewritten(t *testing.T, r *http.Request, url, body string, isShared bool) {
	t.Helper()
	if r.URL.String() != url {
		t.Errorf("URL %s, want %s", r.URL, url)
	}
	again, err := r.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	bodies := []io.ReadCloser{again}
	if !isShared {
		bodies = append(bodies, r.Body)
	}
	for _, from := range bodies {
		text, err := io.ReadAll(from)
		if err := errors.Join(err, from.Close()); err != nil {
			t.Fatal(err)
		}
		if string(text) != body || r.ContentLength != int64(len(body)) {
			t.Errorf("body %s, length %d, want %s, %d", text, r.ContentLength, body, len(body))
		}
	}
}

// A request that would be sent by halves, or with a signature or digest that is
// wrong, isn't made.
func TestWithModelRefusesWhatItCannotRewrite(t *testing.T) {
	const url = "https://v.test/v1/m"
	for name, c := range map[string]struct {
		d      dialect.Dialect
		url    string
		body   string
		change func(*http.Request)
	}{
		"no model":            {dialect.OpenAI, url, `{"x":1}`, nil},
		"model isn't a text":  {dialect.OpenAI, url, `{"model":1}`, nil},
		"broken":              {dialect.OpenAI, url, `{"model":"a"]`, nil},
		"cut off":             {dialect.OpenAI, url, `{"model":"a",`, nil},
		"name is endless":     {dialect.OpenAI, url, `{"model":"` + strings.Repeat("a", 5000) + `"}`, nil},
		"endless at last":     {dialect.OpenAI, url, `{"model":"a","model":"` + strings.Repeat("a", 5000) + `"}`, nil},
		"named too often":     {dialect.OpenAI, url, `{` + strings.Repeat(`"model":"a",`, 40) + `"x":1}`, nil},
		"no GetBody":          {dialect.OpenAI, url, `{"model":"a"}`, func(r *http.Request) { r.GetBody = nil }},
		"GetBody fails":       {dialect.OpenAI, url, `{"model":"a"}`, func(r *http.Request) { r.GetBody = func() (io.ReadCloser, error) { return nil, io.EOF } }},
		"a form":              {dialect.Plivo, url, `src=1`, func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }},
		"compressed":          {dialect.OpenAI, url, `{"model":"a"}`, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }},
		"digest":              {dialect.OpenAI, url, `{"model":"a"}`, func(r *http.Request) { r.Header.Set("Content-Digest", "sha-256=:x:") }},
		"signed":              {dialect.Bedrock, "https://v.test/model/a/converse", `{}`, func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=x") }},
		"presigned":           {dialect.Bedrock, "https://v.test/model/a/converse?X-Amz-Signature=1", `{}`, nil},
		"opaque":              {dialect.Gemini, "https://v.test/v1beta/models/a:generateContent", `{}`, func(r *http.Request) { r.URL.Opaque = "//v.test/x" }},
		"models no directory": {dialect.HuggingFace, "https://v.test/x%2Fmodels%2Fa", `{}`, nil},
		"vendor has none":     {dialect.Stripe, url, `{"model":"a"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := jsonPost(t, c.url, c.body)
			if c.change != nil {
				c.change(r)
			}
			if out, err := dialect.WithModel(c.d, r, "b"); !errors.Is(err, dialect.ErrFixedModel) || out != nil {
				t.Errorf("got %v, %v, want ErrFixedModel", out, err)
			}
		})
	}
}

// What isn't the body that was scanned mustn't be sent as if it were.
func TestWithModelNoticesAnotherBody(t *testing.T) {
	for name, later := range map[string]string{
		"other bytes": `{"x":12,"model":"a"}`, "shorter": `{"x"`, "cut in the name": `{"x":1,"model":"`,
	} {
		r := jsonPost(t, "https://v.test/v1/m", `{"x":1,"model":"a"}`)
		first := r.GetBody
		scanned := false
		r.GetBody = func() (io.ReadCloser, error) {
			if !scanned {
				scanned = true
				return first()
			}
			return io.NopCloser(strings.NewReader(later)), nil
		}
		out, err := dialect.WithModel(dialect.OpenAI, r, "b")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(out.Body); err == nil {
			t.Errorf("%s: sent %s", name, text)
		}
	}
}

// A body that nobody reads is never opened, and what was is closed once. The scan
// opens two, to see that GetBody makes copies.
func TestWithModelOpensABodyOnlyToReadIt(t *testing.T) {
	opened, closed := 0, 0
	r := jsonPost(t, "https://v.test/v1/m", `{"model":"a"}`)
	first := r.GetBody
	r.GetBody = func() (io.ReadCloser, error) {
		opened++
		body, err := first()
		return closing{body, func() { closed++ }}, err
	}
	out, err := dialect.WithModel(dialect.OpenAI, r, "b")
	if err != nil {
		t.Fatal(err)
	}
	out.Body.Close()
	if opened != 2 || closed != 2 {
		t.Errorf("opened %d, closed %d after the scan and a Close, want 2 of each", opened, closed)
	}
	if _, err := out.Body.Read(make([]byte, 1)); err == nil {
		t.Error("a closed body could be read")
	}
	again, err := out.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	again.Close()
	if opened != 3 || closed != 3 {
		t.Errorf("opened %d, closed %d, want 3 of each", opened, closed)
	}
}

type closing struct {
	io.Reader
	close func()
}

func (c closing) Close() error { c.close(); return nil }

func TestWithModelCorrectsAContentLengthOfTheCallers(t *testing.T) {
	r := jsonPost(t, "https://v.test/v1/m", `{"model":"a"}`)
	r.Header.Set("Content-Length", "13")
	out, err := dialect.WithModel(dialect.OpenAI, r, "bbb")
	if err != nil || out.Header.Get("Content-Length") != "15" || r.Header.Get("Content-Length") != "13" {
		t.Errorf("%v: header %q, the caller's %q, want 15 and 13", err, out.Header.Get("Content-Length"), r.Header.Get("Content-Length"))
	}
}

// A body of unknown length stays one.
func TestWithModelKeepsAnUnknownLength(t *testing.T) {
	r := jsonPost(t, "https://v.test/v1/m", `{"model":"a"}`)
	r.ContentLength = -1
	if out, err := dialect.WithModel(dialect.OpenAI, r, "bbb"); err != nil || out.ContentLength != -1 {
		t.Errorf("%v, length %d, want -1", err, out.ContentLength)
	}
}
