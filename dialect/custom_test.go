package dialect_test

import (
	"net/http"
	"testing"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

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
