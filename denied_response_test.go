package headgate_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// denial asks for a response in place of a denial of the second request.
func denial(t *testing.T, base stub, change func(*throttle.Config), call throttle.Call) (*http.Response, *counted) {
	t.Helper()
	tr := through(newThrottle(t, change), base, headgate.WithDeniedResponses())
	spend(t, tr)
	body := &counted{Reader: strings.NewReader("{}")}
	req := postBody(t, "http://vendor.test", body)
	client := &http.Client{Transport: tr, Timeout: time.Minute} // wraps the body
	resp, err := client.Do(req.WithContext(headgate.WithCall(req.Context(), call)))
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

func TestDeniedResponseIsA429ThatSDKsObey(t *testing.T) {
	for name, c := range map[string]struct {
		base   stub
		change func(*throttle.Config)
		call   throttle.Call
		status int
		reason error
		word   string
	}{
		"no room":     {ok, full, throttle.Call{}, 429, throttle.ErrBudget, "budget"},
		"pause":       {busy, func(*throttle.Config) {}, throttle.Call{}, 429, throttle.ErrPaused, "paused"},
		"refused key": {refused, func(*throttle.Config) {}, throttle.Call{}, 429, throttle.ErrKeyRefused, "key_refused"},
		"too large":   {ok, func(*throttle.Config) {}, throttle.Call{Cost: throttle.Cost{InputTokens: 2 * maxTokens}}, 413, throttle.ErrTooLarge, "too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, sent := denial(t, c.base, c.change, c.call)
			defer resp.Body.Close()
			d, ok := headgate.DeniedFrom(resp)
			if !ok || !errors.Is(d, c.reason) {
				t.Fatalf("DeniedFrom: %v, %v, want %v", d, ok, c.reason)
			}
			if resp.StatusCode != c.status || resp.Header.Get("X-Should-Retry") != "false" || resp.Header.Get("X-Headgate-Denied") != c.word {
				t.Errorf("status %d, header %v", resp.StatusCode, resp.Header)
			}
			checkRetryAfter(t, resp, d)
			checkErrorObject(t, resp, d)
			if sent.closes.Load() != 1 {
				t.Errorf("request body closed %d times, want once", sent.closes.Load())
			}
		})
	}
}

func checkRetryAfter(t *testing.T, resp *http.Response, d *throttle.DeniedError) {
	t.Helper()
	text := resp.Header.Get("Retry-After")
	if d.RetryAfter == 0 {
		if text != "" {
			t.Errorf("Retry-After %q although nothing is known", text)
		}
		return
	}
	s, err := strconv.Atoi(text)
	if wait := time.Duration(s) * time.Second; err != nil || wait < d.RetryAfter || wait >= d.RetryAfter+time.Second {
		t.Errorf("Retry-After %q, want %v rounded up", text, d.RetryAfter)
	}
}

func checkErrorObject(t *testing.T, resp *http.Response, d *throttle.DeniedError) {
	t.Helper()
	text, err := io.ReadAll(resp.Body)
	var shape struct {
		Error struct{ Type, Message string }
	}
	if err := errors.Join(err, json.Unmarshal(text, &shape)); err != nil {
		t.Fatal(err)
	}
	if shape.Error.Message != d.Error() || shape.Error.Type == "" || int64(len(text)) != resp.ContentLength {
		t.Errorf("body %s, length %d", text, resp.ContentLength)
	}
}

// A vendor can't pass its own answer off as a denial of ours.
// Google's SDK knows an error by the number in it, where others want a text.
func TestDeniedResponseHasANumberForGoogle(t *testing.T) {
	for d, want := range map[dialect.Dialect]string{
		dialect.Gemini: `"code":429,"status":"RESOURCE_EXHAUSTED"`,
		dialect.Vertex: `"code":429,"status":"RESOURCE_EXHAUSTED"`,
		dialect.Stripe: "",
	} {
		th := newThrottle(t, full)
		tr := headgate.NewTransport(th, d, headgate.WithBase(stub(ok)), headgate.WithDeniedResponses())
		spend(t, tr)
		resp, text := drain(t, &http.Client{Transport: tr}, post(t, "http://vendor.test"))
		if resp.StatusCode != 429 || !strings.Contains(text, want) || strings.Contains(text, `"code"`) != (want != "") {
			t.Errorf("%s: status %d, body %s", d.Name(), resp.StatusCode, text)
		}
	}
}

func TestDeniedFromDoesNotBelieveHeaders(t *testing.T) {
	v := newVendor(t, answer(429, "{}", "X-Headgate-Denied", "budget"))
	resp, _ := drain(t, v.wrap(t, newThrottle(t), headgate.WithDeniedResponses()), post(t, v.URL))
	for _, r := range []*http.Response{resp, {}, nil} {
		if d, ok := headgate.DeniedFrom(r); ok || d != nil {
			t.Errorf("DeniedFrom(%v) = %v, %v", r, d, ok)
		}
	}
}

// A caller that has left wants its context's error and no response, also where
// it left while the call was waiting.
func TestCancelledWaitIsAnErrorAlsoWithDeniedResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := through(newThrottle(t, full, waiting), ok, headgate.WithDeniedResponses())
		spend(t, tr)
		ctx, cancel := context.WithCancel(as(context.Background()))
		time.AfterFunc(time.Second, cancel)
		resp, err := tr.RoundTrip(post(t, "http://vendor.test").WithContext(ctx))
		if resp != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v, want context.Canceled", resp, err)
		}
	})
}

func TestEndedContextIsAnErrorAlsoWithDeniedResponses(t *testing.T) {
	ctx, cancel := context.WithCancel(as(context.Background()))
	cancel()
	tr := through(newThrottle(t), ok, headgate.WithDeniedResponses())
	resp, err := tr.RoundTrip(post(t, "http://vendor.test").WithContext(ctx))
	if resp != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, %v, want context.Canceled", resp, err)
	}
}

func TestInvalidCallIsAnErrorAlsoWithDeniedResponses(t *testing.T) {
	tr := through(newThrottle(t), ok, headgate.WithDeniedResponses())
	req := post(t, "http://vendor.test")
	resp, err := tr.RoundTrip(req.WithContext(headgate.WithCall(req.Context(), throttle.Call{Cost: throttle.Cost{Points: -1}})))
	if resp != nil || !errors.Is(err, throttle.ErrInvalidCall) {
		t.Errorf("got %v, %v, want ErrInvalidCall", resp, err)
	}
}
