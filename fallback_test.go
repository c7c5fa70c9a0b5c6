package headgate_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// twoBackups are those of the tests' model.
var twoBackups = headgate.WithFallbacks(map[string][]string{model: {"n", "third"}, "n": {model}})

// oneEach gives the model and its backups a request a day each.
func oneEach(c *throttle.Config) {
	c.Budgets = nil
	for _, m := range []string{model, "n", "third"} {
		c.Budgets = append(c.Budgets, throttle.Budget{
			Models: []string{m}, Limits: []throttle.Limit{throttle.Requests(1, day), throttle.Tokens(maxTokens, day)},
		})
	}
}

// chat builds a request that says itself what it wants.
func ownChat(t testing.TB, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequest("POST", "http://vendor.test/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+secret)
	return req
}

const chatBody = `{ "model":"m","max_tokens":400,"messages":[{"content":"\u00fc <model>:\"m\""}] }`

// Backups are tried in order, each with the request's bytes but for the model.
func TestADeniedCallGoesToItsBackups(t *testing.T) {
	base := newScript(fine)
	tr := through(newThrottle(t, oneEach), base.RoundTrip, twoBackups)
	for i, want := range []string{"", "n", "third"} {
		req := ownChat(t, chatBody)
		body := req.Body
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		served, ok := headgate.FallbackFrom(resp)
		if served != want || ok != (want != "") || resp.Header.Get("X-Headgate-Model") != want {
			t.Errorf("call %d: FallbackFrom %q, %v, header %q, want %q", i, served, ok, resp.Header.Get("X-Headgate-Model"), want)
		}
		wantBody := chatBody
		if want != "" {
			wantBody = strings.Replace(chatBody, `"model":"m"`, `"model":"`+want+`"`, 1)
		}
		a := base.attempts[i]
		again, _ := a.req.GetBody()
		replayed, _ := io.ReadAll(again)
		if a.body != wantBody || string(replayed) != wantBody || a.req.ContentLength != int64(len(wantBody)) {
			t.Errorf("call %d: sent %s, GetBody %s, length %d, want %s", i, a.body, replayed, a.req.ContentLength, wantBody)
		}
		if req.Body != body || req.ContentLength != int64(len(chatBody)) {
			t.Error("the caller's request was changed")
		}
	}
	resp, err := tr.RoundTrip(ownChat(t, chatBody))
	var d *throttle.DeniedError
	if resp != nil || !errors.As(err, &d) || d.Model != model || !errors.Is(err, throttle.ErrBudget) {
		t.Errorf("got %v, %v, want the denial of the request's own model", resp, err)
	}
}

// Only denials that another model may not meet are a reason to ask for one.
func TestWhatIsAReasonToFallBack(t *testing.T) {
	modelDenied := func(*http.Request) (*http.Response, error) {
		return reply(404, io.NopCloser(strings.NewReader(`{"error":{"code":"model_not_found"}}`))), nil
	}
	noCredit := func(*http.Request) (*http.Response, error) {
		return reply(429, io.NopCloser(strings.NewReader(`{"error":{"code":"insufficient_quota"}}`))), nil
	}
	large := func(c *throttle.Config) { oneEach(c); c.Budgets[0].Limits[1] = throttle.Tokens(10, day) }
	queue := func(c *throttle.Config) {
		oneEach(c)
		waiting(c)
		c.QueueLimit = 1
	}
	for name, c := range map[string]struct {
		base   stub
		change func(*throttle.Config)
		before func(*throttle.Throttle)
		want   error // nil: it falls back
	}{
		"budget":       {base: ok, change: oneEach},
		"pause":        {base: busy, change: oneEach},
		"model denied": {base: modelDenied, change: oneEach},
		"queue full": {base: ok, change: queue, before: func(th *throttle.Throttle) {
			go th.Acquire(context.Background(), throttle.Call{Key: throttle.FingerprintOf(secret), Account: account, Model: model})
			synctest.Wait()
		}},
		"key refused":      {base: refused, change: oneEach, want: throttle.ErrKeyRefused},
		"credit exhausted": {base: noCredit, change: oneEach, want: throttle.ErrCreditExhausted},
		"closed":           {base: ok, change: oneEach, before: func(th *throttle.Throttle) { th.Close() }, want: throttle.ErrClosed},
		"too large":        {base: ok, change: large, want: throttle.ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				th := newThrottle(t, c.change)
				if c.want == nil || !errors.Is(c.want, throttle.ErrTooLarge) {
					spend(t, through(th, c.base))
				}
				if c.before != nil {
					c.before(th)
				}
				resp, err := through(th, ok, twoBackups).RoundTrip(post(t, "http://vendor.test"))
				if !errors.Is(err, c.want) {
					t.Fatalf("got %v, %v, want %v", resp, err, c.want)
				}
				if served, _ := headgate.FallbackFrom(resp); c.want == nil && served != "n" {
					t.Errorf("served by %q, want n", served)
				}
				th.Close()
			})
		})
	}
}

// A call that waits does so for its own model, as long as its lane lets it and
// that may help; where it can't, the backups come at once.
func TestALiveCallPrefersItsOwnModelWithinItsWait(t *testing.T) {
	for name, c := range map[string]struct {
		per  time.Duration
		took time.Duration
		want string
	}{
		"in time":  {4 * time.Second, 4 * time.Second, ""},
		"too late": {time.Minute, 0, "n"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				th := newThrottle(t, oneEach, func(c2 *throttle.Config) {
					c2.Lanes = lanes.Default()
					c2.Budgets[0].Limits = []throttle.Limit{throttle.Requests(1, c.per).Using(throttle.TokenBucket)}
				})
				tr := through(th, ok, twoBackups)
				spend(t, tr)
				start := time.Now()
				resp, err := tr.RoundTrip(post(t, "http://vendor.test"))
				if err != nil {
					t.Fatal(err)
				}
				if served, _ := headgate.FallbackFrom(resp); served != c.want || time.Since(start).Round(time.Second) != c.took {
					t.Errorf("served by %q after %v, want %q after %v", served, time.Since(start), c.want, c.took)
				}
			})
		})
	}
}

// Every backup is a call of its own: its budget is charged, with its estimate.
func TestABackupIsChargedToItsOwnBudget(t *testing.T) {
	d := dialect.New("own", dialect.OpenAI, dialect.Custom{Cost: func(r *http.Request, c throttle.Cost) throttle.Cost {
		body, _ := r.GetBody()
		text, _ := io.ReadAll(body)
		if c.InputTokens = 10; strings.Contains(string(text), `"n"`) {
			c.InputTokens = 7000
		}
		c.OutputTokens = 0
		return c
	}})
	var seen []throttle.Event
	th := newThrottle(t, oneEach, func(c *throttle.Config) {
		c.Observe = func(e throttle.Event) { seen = append(seen, e) }
		c.Budgets[1].Limits[1] = throttle.Tokens(6000, day)
	})
	base := newScript(fine)
	tr := headgate.NewTransport(th, d, headgate.WithBase(base), twoBackups)
	for range 2 {
		resp, err := tr.RoundTrip(ownChat(t, `{"model":"m"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if n := len(base.attempts); n != 2 || base.attempts[1].body != `{"model":"third"}` {
		t.Errorf("%d attempts, %+v, want the third model: the call is too large for the second", n, base.attempts)
	}
	if last := seen[len(seen)-1]; last.Kind != throttle.EventAdmitted || last.Model != "third" {
		t.Errorf("last event %+v", last)
	}
}

// The map is the Transport's own from the start.
func TestFallbacksAreCopied(t *testing.T) {
	models := map[string][]string{model: {"n"}}
	tr := through(newThrottle(t, oneEach), ok, headgate.WithFallbacks(models))
	models[model][0] = "third"
	spend(t, tr)
	resp, err := tr.RoundTrip(post(t, "http://vendor.test"))
	if err != nil {
		t.Fatal(err)
	}
	if served, _ := headgate.FallbackFrom(resp); served != "n" {
		t.Errorf("served by %q, want n", served)
	}
}
