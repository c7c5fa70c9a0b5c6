package headgate_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sort"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

const (
	model       = "m"
	account     = "acme"
	maxRequests = 10_000
	maxTokens   = 1_000_000
	day         = 24 * time.Hour
)

// estimate is what every call of these tests is charged, unless it says
// otherwise: 500 tokens.
var estimate = throttle.Cost{InputTokens: 100, OutputTokens: 400}

const (
	usageBody   = `{"id":"x","object":"chat.completion","model":"m","choices":[],"usage":{"prompt_tokens":70,"completion_tokens":30,"total_tokens":100}}`
	usageTokens = 100
)

// newThrottle returns a throttle with one budget and lanes that never wait.
func newThrottle(t testing.TB, change ...func(*throttle.Config)) *throttle.Throttle {
	t.Helper()
	c := throttle.Config{
		Budgets: []throttle.Budget{{
			Models: []string{model},
			Limits: []throttle.Limit{throttle.Requests(maxRequests, day), throttle.Tokens(maxTokens, day)},
		}},
		Lanes:  []lanes.Lane{{Name: "live", Share: 1}, {Name: "background", Share: 0.6}},
		Logger: slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&c)
	}
	th, err := throttle.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { th.Close() })
	return th
}

// waiting gives the throttle lanes that wait as long as the context allows.
func waiting(c *throttle.Config) {
	c.Lanes = []lanes.Lane{{Name: "live", Share: 1, Wait: -1}}
}

// full leaves no room for a second request.
func full(c *throttle.Config) {
	c.Budgets[0].Limits = []throttle.Limit{throttle.Requests(1, day)}
}

// as returns the context of a call with the tests' account, model and estimate.
func as(ctx context.Context) context.Context {
	return headgate.WithCall(ctx, throttle.Call{Account: account, Model: model, Cost: estimate})
}

// used returns what stands charged to the tests' account. Settlements travel
// with the next claim, so it makes one, and leaves it out of the count.
func used(t testing.TB, th *throttle.Throttle) (requests, tokens int64) {
	t.Helper()
	own, err := th.Acquire(context.Background(), throttle.Call{Key: throttle.FingerprintOf("meter"), Account: account, Model: model})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Cancel()
	room := func(most int, cost func(int64) throttle.Cost) int64 {
		return int64(sort.Search(most, func(n int) bool {
			call := throttle.Call{Key: throttle.FingerprintOf("meter"), Account: account, Model: model, Cost: cost(int64(n + 1))}
			return th.Check(context.Background(), call) != nil
		}))
	}
	requests = maxRequests - room(maxRequests, func(n int64) throttle.Cost { return throttle.Cost{Requests: n} })
	tokens = maxTokens - room(maxTokens, func(n int64) throttle.Cost { return throttle.Cost{InputTokens: n} })
	return requests - 1, tokens
}

// wantUsed waits for what the end of a context settles, which happens on a
// goroutine of its own.
func wantUsed(t testing.TB, th *throttle.Throttle, requests, tokens int64) {
	t.Helper()
	var r, n int64
	if !eventually(func() bool { r, n = used(t, th); return r == requests && n == tokens }) {
		t.Errorf("charged %d requests and %d tokens, want %d and %d", r, n, requests, tokens)
	}
}

// eventually reports whether the condition came true. Its bound is only there
// to end a test that fails.
func eventually(cond func() bool) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(5 * time.Second); ; <-tick.C {
		if cond() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
	}
}

// noLeaks fails the test if goroutines that it started are left at its end. To
// be called first, so that it looks last.
func noLeaks(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		if !eventually(func() bool { return runtime.NumGoroutine() <= before }) {
			stacks := make([]byte, 1<<20)
			t.Errorf("%d goroutines, had %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	})
}

// A vendor is a server that counts what reaches it.
type vendor struct {
	*httptest.Server
	hits atomic.Int64
}

func newVendor(t testing.TB, h http.HandlerFunc) *vendor {
	v := unstartedVendor(h)
	v.Start()
	t.Cleanup(v.Close)
	return v
}

// newVendor2 speaks HTTP/2 over TLS.
func newVendor2(t testing.TB, h http.HandlerFunc) *vendor {
	v := unstartedVendor(h)
	v.EnableHTTP2 = true
	v.StartTLS()
	t.Cleanup(v.Close)
	return v
}

func unstartedVendor(h http.HandlerFunc) *vendor {
	v := &vendor{}
	v.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.hits.Add(1)
		h(w, r)
	}))
	v.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	return v
}

// wrap returns a client whose requests to the vendor pass the throttle.
func (v *vendor) wrap(t testing.TB, th *throttle.Throttle, opts ...headgate.Option) *http.Client {
	base := v.Client().Transport.(*http.Transport).Clone()
	t.Cleanup(base.CloseIdleConnections)
	opts = append([]headgate.Option{headgate.WithBase(base)}, opts...)
	return &http.Client{Transport: headgate.NewTransport(th, dialect.OpenAI, opts...)}
}

// answer returns a handler for one status and body.
func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// post builds a chat request whose context has the tests' call.
func post(t testing.TB, url string) *http.Request {
	t.Helper()
	return postBody(t, url, strings.NewReader(`{"model":"m","max_tokens":400,"messages":[]}`))
}

func postBody(t testing.TB, url string, body io.Reader) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(as(context.Background()), "POST", url+"/v1/chat/completions", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+secret)
	return req
}

// withCancel gives the request a channel that ends it, the old way.
func withCancel(req *http.Request, stop <-chan struct{}) *http.Request {
	//lint:ignore SA1019 callers still use it
	req.Cancel = stop
	return req
}

const secret = "sk-SECRET-0123456789"

// drain sends the request, reads the answer to its end and closes it.
func drain(t testing.TB, c *http.Client, req *http.Request) (*http.Response, string) {
	t.Helper()
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// A counted body counts how often it is closed.
type counted struct {
	io.Reader
	closes atomic.Int32
}

func (c *counted) Close() error { c.closes.Add(1); return nil }

// stub is a base that is a function.
type stub func(*http.Request) (*http.Response, error)

func (f stub) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// reply is a response as a stub makes it.
func reply(status int, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// through returns a Transport over a stub.
func through(th *throttle.Throttle, base stub, opts ...headgate.Option) *headgate.Transport {
	return headgate.NewTransport(th, dialect.OpenAI, append([]headgate.Option{headgate.WithBase(base)}, opts...)...)
}
