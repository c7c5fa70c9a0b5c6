package headgate_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// What isn't there must fail at the first request, close the body, and never
// reach the vendor.
func TestWhatCantBeHadFailsLoudly(t *testing.T) {
	th := newThrottle(t)
	never := headgate.WithBase(stub(func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, errors.New("sent")
	}))
	with := func(models map[string][]string) *headgate.Transport {
		return headgate.NewTransport(th, dialect.OpenAI, never, headgate.WithFallbacks(models))
	}
	for name, c := range map[string]struct{ tr *headgate.Transport }{
		"negative retries": {headgate.NewTransport(th, dialect.OpenAI, never, headgate.WithRetries(-1))},
		"nil throttle":     {headgate.NewTransport(nil, dialect.OpenAI, never)},
		"nil dialect":      {headgate.NewTransport(th, nil, never)},
		"zero Transport":   {&headgate.Transport{}},

		"fallback of no name":         {with(map[string][]string{"": {"b"}})},
		"fallback to no name":         {with(map[string][]string{"a": {"b", ""}})},
		"fallback to itself":          {with(map[string][]string{"a": {"b", "a"}})},
		"fallback named twice":        {with(map[string][]string{"a": {"b", "b"}})},
		"fallback by a pattern":       {with(map[string][]string{"gpt-*": {"b"}})},
		"fallback to a pattern":       {with(map[string][]string{"a": {"gpt-*"}})},
		"fallback that isn't UTF-8":   {with(map[string][]string{"a": {"\xff"}})},
		"fallback without any models": {headgate.NewTransport(th, dialect.Twilio, never, headgate.WithFallbacks(map[string][]string{"a": {"b"}}))},
		"fallback in an own dialect": {headgate.NewTransport(th, dialect.New("own", dialect.OpenAI, dialect.Custom{
			Model: func(*http.Request) string { return "a" },
		}), never, headgate.WithFallbacks(map[string][]string{"a": {"b"}}))},
	} {
		t.Run(name, func(t *testing.T) {
			body := &counted{Reader: strings.NewReader("{}")}
			resp, err := c.tr.RoundTrip(postBody(t, "http://vendor.test", body))
			if resp != nil || err == nil || !strings.HasPrefix(err.Error(), "headgate: ") {
				t.Errorf("got %v, %v, want an error of ours", resp, err)
			}
			if n := body.closes.Load(); n != 1 {
				t.Errorf("body closed %d times, want once", n)
			}
		})
	}
	wantUsed(t, th, 0, 0)
}

func TestOptionsThatAskForNothingAreFine(t *testing.T) {
	v := newVendor(t, answer(200, usageBody))
	client := v.wrap(t, newThrottle(t), nil, headgate.WithRetries(0), headgate.WithFallbacks(nil),
		headgate.WithFallbacks(map[string][]string{}), headgate.WithAccount(nil))
	drain(t, client, post(t, v.URL))
}

func TestNilBaseIsTheDefaultTransport(t *testing.T) {
	v := newVendor(t, answer(200, usageBody))
	client := &http.Client{Transport: headgate.NewTransport(newThrottle(t), dialect.OpenAI, headgate.WithBase(nil))}
	drain(t, client, post(t, v.URL))
	client.CloseIdleConnections()
}

func TestNilURLIsAnError(t *testing.T) {
	body := &counted{Reader: strings.NewReader("{}")}
	tr := through(newThrottle(t), nil)
	if _, err := tr.RoundTrip(&http.Request{Method: "POST", Body: body}); err == nil || body.closes.Load() != 1 {
		t.Errorf("error %v, %d closes, want an error and one close", err, body.closes.Load())
	}
}

func TestWithCallOverridesFieldByField(t *testing.T) {
	var seen []throttle.Event
	th := newThrottle(t, func(c *throttle.Config) {
		c.Observe = func(e throttle.Event) {
			if e.Kind == throttle.EventAdmitted {
				seen = append(seen, e)
			}
		}
	})
	tr := through(th, func(*http.Request) (*http.Response, error) { return reply(200, http.NoBody), nil },
		headgate.WithAccount(func(*http.Request) string { return "from the option" }))
	outer := headgate.WithCall(context.Background(), throttle.Call{Model: "outer", Account: account})
	inner := headgate.WithCall(outer, throttle.Call{Model: model, Key: throttle.FingerprintOf("k"), Cost: estimate})
	if _, err := tr.RoundTrip(post(t, "http://vendor.test").WithContext(inner)); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0].Model != model || seen[0].Account != account || seen[0].Key != throttle.FingerprintOf("k") {
		t.Errorf("admitted %+v, want the inner model and key and the outer account", seen)
	}
	wantUsed(t, th, 1, 500)
}

func TestOptionsAccountGoesBeforeTheDialects(t *testing.T) {
	d := dialect.New("own", dialect.OpenAI, dialect.Custom{Account: func(*http.Request) string { return "from the dialect" }})
	for want, option := range map[string]func(*http.Request) string{
		"from the option":  func(*http.Request) string { return "from the option" },
		"from the dialect": func(*http.Request) string { return "" },
	} {
		got := ""
		th := newThrottle(t, func(c *throttle.Config) {
			c.Observe = func(e throttle.Event) { got = e.Account }
		})
		base := stub(func(*http.Request) (*http.Response, error) { return reply(200, http.NoBody), nil })
		tr := headgate.NewTransport(th, d, headgate.WithBase(base), headgate.WithAccount(option))
		req, _ := http.NewRequest("GET", "http://vendor.test/v1/models", nil)
		if _, err := tr.RoundTrip(req); err != nil || got != want {
			t.Errorf("account %q, error %v, want %q", got, err, want)
		}
	}
}
