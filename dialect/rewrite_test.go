package dialect

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
)

// rewriteBody returns a body, which comes in pieces as read cuts it, with its
// model replaced, and false where it can't be.
func rewriteBody(t *testing.T, body, model string, read func(io.Reader) io.Reader) (string, bool) {
	t.Helper()
	r := &http.Request{
		Method: "POST", Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
		GetBody: func() (io.ReadCloser, error) { return io.NopCloser(read(strings.NewReader(body))), nil },
	}
	out, err := openAI.withModelInBody(r, model)
	if err != nil {
		return "", false
	}
	text, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := out.GetBody()
	if bytewise, err := io.ReadAll(iotest.OneByteReader(again)); err != nil || !bytes.Equal(bytewise, text) {
		t.Fatalf("read byte by byte, it is another: %v", err)
	}
	if int64(len(text)) != out.ContentLength && out.ContentLength > 0 {
		t.Fatalf("%d bytes, Content-Length %d", len(text), out.ContentLength)
	}
	return string(text), true
}

func asItComes(r io.Reader) io.Reader { return r }

// A model next to long texts, at every cut.
func TestRewritingDoesNotDependOnTheCuts(t *testing.T) {
	prompt := strings.Repeat(`text \" with \\ \u0041 quotes, "model\":\"a `, 5000)
	prompt = strings.ReplaceAll(prompt, `, "`, `, \"`)
	for _, body := range []string{
		`{"messages":[{"content":"` + prompt + `"}],"model":"a","n":1}`,
		`{"model":"a","messages":[{"content":"` + prompt + `"}]}`,
	} {
		want := strings.Replace(body, `"model":"a"`, `"model":"bb"`, 1)
		for _, read := range []func(io.Reader) io.Reader{asItComes, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
			if got, ok := rewriteBody(t, body, "bb", read); !ok || got != want {
				t.Fatalf("rewritten: %v; got %d bytes, want %d", ok, len(got), len(want))
			}
		}
	}
}

// Whatever the body: it is refused, or differs in nothing but the model, is as
// sound as before and is read as asking for the new one.
func FuzzRewriteModel(f *testing.F) {
	for _, body := range []string{
		`{"model":"a"}`, `{"model":"a","model":"b"}`, ` {"m\u006fdel" : "\ud83d\ude00" } `, `{"a":{"model":"x"},"model":"y"}`,
		`{"model":"a"}{"model":"b"}`, `{"model":null,"model":"a"}`, `{"model":"a"`, `[{"model":"a"}]`, `"model"`, `{"model":"\"}`, `{"model":"\\"}`,
		"{\"model\":\"\xff\"}", `{"model":{"model":"a"}}`, `{"":"model","model":"a","x":"model"}`,
	} {
		f.Add(body, "b")
	}
	f.Add(`{"model":"a"}`, `q"\ <`)
	f.Fuzz(func(t *testing.T, body, model string) {
		text, ok := rewriteBody(t, body, model, asItComes)
		cut, okCut := rewriteBody(t, body, model, iotest.OneByteReader)
		if ok != okCut || text != cut {
			t.Fatalf("in one piece %v %q, bytewise %v %q", ok, text, okCut, cut)
		}
		if !ok || model == "" {
			return
		}
		if json.Valid([]byte(body)) {
			checkOnlyTheModelDiffers(t, body, text, model)
		}
		back, ok := rewriteBody(t, text, "other", asItComes)
		forth, _ := rewriteBody(t, body, "other", asItComes)
		if !ok || back != forth {
			t.Fatalf("%q became %q, which becomes %q", body, text, back)
		}
	})
}

func checkOnlyTheModelDiffers(t *testing.T, body, text, model string) {
	t.Helper()
	var before, after map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &before) != nil || json.Unmarshal([]byte(text), &after) != nil {
		t.Fatalf("%q became %q, which isn't an object", body, text)
	}
	want, _ := json.Marshal(model)
	var is, should string
	if json.Unmarshal(after["model"], &is) != nil || json.Unmarshal(want, &should) != nil || is != should {
		// Of several keys the last counts, which may be no text.
		if bytes.HasPrefix(bytes.TrimSpace(before["model"]), []byte(`"`)) {
			t.Fatalf("%q became %q, want the model %q", body, text, should)
		}
	}
	delete(before, "model")
	delete(after, "model")
	for key, value := range before {
		if !bytes.Equal(after[key], value) {
			t.Fatalf("%q became %q: %q differs", body, text, key)
		}
	}
	if len(before) != len(after) {
		t.Fatalf("%q became %q", body, text)
	}
}
