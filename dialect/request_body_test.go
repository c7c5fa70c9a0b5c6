package dialect_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

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
