package headgate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

func TestCallersRequestIsNotModified(t *testing.T) {
	for name, body := range map[string]io.Reader{
		"rewindable body":  strings.NewReader(`{"model":"m"}`),
		"one-way body":     io.MultiReader(strings.NewReader(`{"model":"m"}`)),
		"body without end": nil,
	} {
		t.Run(name, func(t *testing.T) {
			th := newThrottle(t)
			req := postBody(t, "http://vendor.test", body)
			req.URL.RawQuery = "a=1&b=2"
			req.Trailer = http.Header{"X-Sum": nil}
			before := *req
			headers, url := req.Header.Clone(), *req.URL

			tr := through(th, func(got *http.Request) (*http.Response, error) {
				if got.Body != nil {
					io.Copy(io.Discard, got.Body)
					got.Body.Close()
				}
				return reply(200, http.NoBody), nil
			})
			if _, err := tr.RoundTrip(req); err != nil {
				t.Fatal(err)
			}
			if req.Body != before.Body || req.ContentLength != before.ContentLength || req.Context() != before.Context() {
				t.Error("the request's body, length or context was replaced")
			}
			if (req.GetBody == nil) != (before.GetBody == nil) {
				t.Error("GetBody changed")
			}
			if !reflect.DeepEqual(req.Header, headers) || *req.URL != url {
				t.Errorf("header or URL changed: %v %v", req.Header, req.URL)
			}
		})
	}
}

func TestWhatIsSentEqualsWhatWasGiven(t *testing.T) {
	text := `{"model":"m","messages":[{"role":"user","content":"Zürich ✓"}]}`
	for _, oneWay := range []bool{false, true} {
		t.Run(fmt.Sprint("oneWay=", oneWay), func(t *testing.T) {
			var body io.Reader = strings.NewReader(text)
			if oneWay {
				body = io.MultiReader(body)
			}
			req := postBody(t, "http://vendor.test", body)
			req.ContentLength = int64(len(text))
			req.Trailer = http.Header{"X-Sum": {"1"}}
			req.Host = "other.test"
			tr := through(newThrottle(t), func(got *http.Request) (*http.Response, error) {
				sent, _ := io.ReadAll(got.Body)
				got.Body.Close()
				if string(sent) != text {
					t.Errorf("body %q, want %q", sent, text)
				}
				if got.ContentLength != req.ContentLength || got.TransferEncoding != nil || got.Host != req.Host ||
					!reflect.DeepEqual(got.Trailer, req.Trailer) || (got.GetBody == nil) != (req.GetBody == nil) {
					t.Errorf("sent %+v, want %+v", got, req)
				}
				return reply(200, http.NoBody), nil
			})
			if _, err := tr.RoundTrip(req); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// B62: a strict vendor refuses chunked bodies and counts bytes, not letters.
func TestB62ContentLengthReachesTheVendor(t *testing.T) {
	const text = "To=%2B41790000000&Body=Zürich ✓"
	for _, oneWay := range []bool{false, true} {
		v := newVendor(t, func(w http.ResponseWriter, r *http.Request) {
			got, _ := io.ReadAll(r.Body)
			if r.ContentLength != int64(len(text)) || len(r.TransferEncoding) > 0 || string(got) != text {
				t.Errorf("length %d, transfer encoding %v, body %q", r.ContentLength, r.TransferEncoding, got)
			}
		})
		var body io.Reader = strings.NewReader(text)
		if oneWay {
			body = io.MultiReader(body)
		}
		req := postBody(t, v.URL, body)
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		req.ContentLength = int64(len(text))
		drain(t, v.wrap(t, newThrottle(t)), req)
	}
}

func TestSentBodyIsClosedOnceByTheBase(t *testing.T) {
	for version, start := range vendors {
		t.Run(version, func(t *testing.T) {
			v := start(t, answer(200, usageBody))
			body := &counted{Reader: strings.NewReader(`{"model":"m"}`)}
			drain(t, v.wrap(t, newThrottle(t)), postBody(t, v.URL, body))
			if !eventually(func() bool { return body.closes.Load() == 1 }) {
				t.Errorf("closed %d times, want once", body.closes.Load())
			}
		})
	}
}

// B63: many goroutines may share what a request points to.
func TestB63SharedHeaderMapIsOnlyRead(t *testing.T) {
	v := newVendor(t, answer(200, usageBody))
	client := v.wrap(t, newThrottle(t))
	shared := post(t, v.URL)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			req := post(t, v.URL)
			req.Header, req.URL = shared.Header, shared.URL
			drain(t, client, req)
		})
	}
	wg.Wait()
}

type idler struct {
	stub
	closed atomic.Int32
}

func (i *idler) CloseIdleConnections() { i.closed.Add(1) }

// B63: http.Client.CloseIdleConnections must get to the base.
func TestB63CloseIdleConnectionsReachesTheBase(t *testing.T) {
	base := &idler{}
	client := &http.Client{Transport: headgate.NewTransport(newThrottle(t), dialect.OpenAI, headgate.WithBase(base))}
	client.CloseIdleConnections()
	if base.closed.Load() != 1 {
		t.Errorf("closed %d times, want once", base.closed.Load())
	}
	through(newThrottle(t), nil).CloseIdleConnections() // a base without the method
}

func TestResponseNamesTheCallersRequest(t *testing.T) {
	v := newVendor(t, answer(200, usageBody))
	req := post(t, v.URL)
	tr := v.wrap(t, newThrottle(t)).Transport
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Request != req {
		t.Error("resp.Request isn't the request that was given")
	}
}

func TestCallersOwnTraceStillWorks(t *testing.T) {
	v := newVendor(t, answer(200, usageBody))
	var got, wrote, first, dialled atomic.Int32
	req := post(t, v.URL)
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GotConn:              func(httptrace.GotConnInfo) { got.Add(1) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { wrote.Add(1) },
		GotFirstResponseByte: func() { first.Add(1) },
		ConnectDone:          func(string, string, error) { dialled.Add(1) },
	}))
	drain(t, v.wrap(t, newThrottle(t)), req)
	if got.Load() != 1 || wrote.Load() != 1 || first.Load() != 1 || dialled.Load() != 1 {
		t.Errorf("GotConn %d, WroteRequest %d, GotFirstResponseByte %d, ConnectDone %d, want 1 each",
			got.Load(), wrote.Load(), first.Load(), dialled.Load())
	}
}

func TestMisbehavingBase(t *testing.T) {
	broken := errors.New("broken")
	t.Run("neither response nor error", func(t *testing.T) {
		th := newThrottle(t)
		resp, err := through(th, func(*http.Request) (*http.Response, error) { return nil, nil }).RoundTrip(post(t, "http://vendor.test"))
		if resp != nil || err == nil || !strings.Contains(err.Error(), "headgate:") {
			t.Errorf("got %v, %v, want an error of ours", resp, err)
		}
		wantUsed(t, th, 1, 500)
	})
	t.Run("response without a body", func(t *testing.T) {
		th := newThrottle(t)
		resp, err := through(th, func(*http.Request) (*http.Response, error) { return reply(200, nil), nil }).RoundTrip(post(t, "http://vendor.test"))
		if err != nil || resp.Body == nil {
			t.Fatalf("got %v, %v, want an empty body", resp, err)
		}
		if b, err := io.ReadAll(resp.Body); len(b) > 0 || err != nil {
			t.Errorf("read %q, %v", b, err)
		}
		wantUsed(t, th, 1, 500)
	})
	t.Run("both", func(t *testing.T) {
		th, body := newThrottle(t), &counted{Reader: strings.NewReader("x")}
		resp, err := through(th, func(*http.Request) (*http.Response, error) { return reply(200, body), broken }).RoundTrip(post(t, "http://vendor.test"))
		if resp != nil || err != broken || body.closes.Load() != 1 {
			t.Errorf("got %v, %v and %d closes, want only the error and one close", resp, err, body.closes.Load())
		}
		wantUsed(t, th, 1, 500)
	})
}

func TestEachRedirectIsCharged(t *testing.T) {
	v := newVendor(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/chat/completions" {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			return
		}
		answer(200, usageBody)(w, r)
	})
	th := newThrottle(t)
	drain(t, v.wrap(t, th), post(t, v.URL))
	if v.hits.Load() != 2 {
		t.Fatalf("%d requests arrived, want 2", v.hits.Load())
	}
	wantUsed(t, th, 2, usageTokens) // the redirect itself generated nothing
}

func TestDialectsModelAndCostAreUsed(t *testing.T) {
	var seen []throttle.Event
	th := newThrottle(t, func(c *throttle.Config) {
		c.Observe = func(e throttle.Event) {
			if e.Kind == throttle.EventAdmitted {
				seen = append(seen, e)
			}
		}
	})
	tr := through(th, ok, headgate.WithAccount(func(r *http.Request) string { return r.Header.Get("X-Account") }))
	req := chat(t, `{"model":"m","max_tokens":300,"messages":[{"role":"user","content":"hello"}]}`).WithContext(t.Context())
	req.Header.Set("X-Account", account)
	if _, err := tr.RoundTrip(req); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0].Model != model || seen[0].Account != account {
		t.Errorf("admitted %+v, want one call for model %q and account %q", seen, model, account)
	}
	if _, n := used(t, th); n < 300 || n >= 400 {
		t.Errorf("charged %d tokens, want the 300 of max_tokens and a few for the input", n)
	}
}

// chat is a request whose model and cost the dialect has to read.
func chat(t *testing.T, text string) *http.Request {
	ctx := headgate.WithCall(context.Background(), throttle.Call{Account: account})
	req, err := http.NewRequestWithContext(ctx, "POST", "https://api.openai.com/v1/chat/completions", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

func TestGuessIsChargedWhereNothingIsStated(t *testing.T) {
	cost := func(text string) int64 {
		th := newThrottle(t)
		if _, err := through(th, ok).RoundTrip(chat(t, text)); err != nil {
			t.Fatal(err)
		}
		_, tokens := used(t, th)
		return tokens
	}
	stated, guessed := cost(`{"model":"m","messages":[],"max_tokens":1}`), cost(`{"model":"m","messages":[]}`)
	if guessed < stated+50 {
		t.Errorf("charged %d tokens without a cap, and %d with a cap of one", guessed, stated)
	}
}

func TestGuessIsFittedToTheBudget(t *testing.T) {
	th := newThrottle(t, func(c *throttle.Config) {
		c.Budgets[0].Limits = []throttle.Limit{throttle.Tokens(60, day)}
	})
	if _, err := through(th, ok).RoundTrip(chat(t, `{"model":"m","messages":[]}`)); err != nil {
		t.Errorf("a request that names no cap was refused for a guess of ours: %v", err)
	}
}
