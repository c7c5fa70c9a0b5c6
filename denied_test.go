package headgate_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// ok is a base that answers at once.
func ok(*http.Request) (*http.Response, error) { return reply(200, http.NoBody), nil }

// busy is a base that asks for a minute.
func busy(*http.Request) (*http.Response, error) {
	resp := reply(429, io.NopCloser(strings.NewReader(`{"error":{"code":"rate_limit_exceeded"}}`)))
	resp.Header.Set("Retry-After", "60")
	return resp, nil
}

// refused is a base that doesn't know the key.
func refused(*http.Request) (*http.Response, error) {
	return reply(401, io.NopCloser(strings.NewReader(`{"error":{"code":"invalid_api_key"}}`))), nil
}

// spend sends one request, whatever becomes of it.
func spend(t *testing.T, tr *headgate.Transport) {
	t.Helper()
	resp, err := tr.RoundTrip(post(t, "http://vendor.test"))
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

// B53: whoever refuses a request has to close its body, once.
func TestB53RefusedRequestsBodyIsClosedOnce(t *testing.T) {
	cancelled, cancel := context.WithCancel(as(context.Background()))
	cancel()
	for name, c := range map[string]struct {
		base  stub
		with  func(*throttle.Config)
		close bool
		ctx   context.Context
		want  error
	}{
		"no room":       {base: ok, with: full, want: throttle.ErrBudget},
		"pause":         {base: busy, want: throttle.ErrPaused},
		"refused key":   {base: refused, want: throttle.ErrKeyRefused},
		"shutdown":      {base: ok, close: true, want: throttle.ErrClosed},
		"pre-cancelled": {base: ok, ctx: cancelled, want: context.Canceled},
		"too large":     {base: ok, ctx: headgate.WithCall(as(context.Background()), throttle.Call{Cost: throttle.Cost{InputTokens: 2 * maxTokens}}), want: throttle.ErrTooLarge},
		"negative cost": {base: ok, ctx: headgate.WithCall(as(context.Background()), throttle.Call{Cost: throttle.Cost{InputTokens: -1}}), want: throttle.ErrInvalidCall},
		"unknown lane":  {base: ok, ctx: lanes.With(as(context.Background()), lanes.Lane{Name: "nobody's"}), want: throttle.ErrInvalidCall},
	} {
		t.Run(name, func(t *testing.T) {
			if c.with == nil {
				c.with = func(*throttle.Config) {}
			}
			th := newThrottle(t, c.with)
			tr := through(th, c.base)
			spend(t, tr)
			if c.close {
				th.Close()
			}
			body := &counted{Reader: strings.NewReader("{}")}
			req := postBody(t, "http://vendor.test", body)
			if c.ctx != nil {
				req = req.WithContext(c.ctx)
			}
			if _, err := tr.RoundTrip(req); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if n := body.closes.Load(); n != 1 {
				t.Errorf("body closed %d times, want once", n)
			}
		})
	}
}

// B53: the same for calls that are refused after they waited, or because too
// many wait already.
func TestB53BodyOfAWaitingRequestIsClosedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, full, waiting, func(c *throttle.Config) { c.QueueLimit = 1 })
		tr := through(th, ok)
		spend(t, tr)
		ctx, cancel := context.WithCancel(as(context.Background()))
		waiter := &counted{Reader: strings.NewReader("{}")}
		done := make(chan error, 1)
		go func() {
			_, err := tr.RoundTrip(postBody(t, "http://vendor.test", waiter).WithContext(ctx))
			done <- err
		}()
		synctest.Wait()
		surplus := &counted{Reader: strings.NewReader("{}")}
		if _, err := tr.RoundTrip(postBody(t, "http://vendor.test", surplus)); !errors.Is(err, throttle.ErrQueueFull) || surplus.closes.Load() != 1 {
			t.Errorf("error %v and %d closes, want ErrQueueFull and one", err, surplus.closes.Load())
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) || waiter.closes.Load() != 1 {
			t.Errorf("error %v and %d closes, want context.Canceled and one", err, waiter.closes.Load())
		}
	})
}

// B53: a file as a body must not stay open.
func TestB53RefusedFileBodyLeaksNoDescriptor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "body")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	tr := through(newThrottle(t, full), ok)
	spend(t, tr)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: tr}
	if _, err := client.Do(postBody(t, "http://vendor.test", f)); !errors.Is(err, throttle.ErrDenied) {
		t.Errorf("error %v, want a denial", err)
	}
	if _, err := f.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the file is still open (%v)", err)
	}
}

type unreadable struct{ counted }

func (*unreadable) Read([]byte) (int, error) { return 0, errors.New("disk gone") }

// What is wrong with a body is the base's to find, as it is without us.
func TestUnreadableBodysErrorReachesTheCaller(t *testing.T) {
	v, body := newVendor(t, answer(200, usageBody)), &unreadable{}
	_, err := v.wrap(t, newThrottle(t)).Do(postBody(t, v.URL, body))
	if err == nil || !strings.Contains(err.Error(), "disk gone") {
		t.Errorf("error %v, want the body's own", err)
	}
	if !eventually(func() bool { return body.closes.Load() > 0 }) {
		t.Error("the body wasn't closed")
	}
}

// B54: a denial is a typed error and not something a vendor might have said.
func TestB54DenialIsATypedErrorForEveryAttempt(t *testing.T) {
	v := newVendor(t, answer(200, usageBody))
	client := v.wrap(t, newThrottle(t, full))
	drain(t, client, post(t, v.URL))
	for range 3 { // as an SDK with two retries does
		resp, err := client.Do(post(t, v.URL))
		var d *throttle.DeniedError
		if resp != nil || !errors.As(err, &d) || !errors.Is(err, throttle.ErrBudget) {
			t.Fatalf("got %v, %v, want only a *throttle.DeniedError", resp, err)
		}
		if d.RetryAfter <= 0 || d.Model != model {
			t.Errorf("%+v, want the wait and the model", d)
		}
	}
	if v.hits.Load() != 1 {
		t.Errorf("%d requests arrived, want 1", v.hits.Load())
	}
}

// B56: a deadline that is too near is a deadline error, and says so early.
func TestB56TooNearADeadlineFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, waiting, func(c *throttle.Config) {
			c.Budgets[0].Limits = []throttle.Limit{throttle.Requests(1, 30*time.Second).Using(throttle.TokenBucket)}
		})
		tr := through(th, ok)
		spend(t, tr)
		ctx, cancel := context.WithTimeout(as(context.Background()), time.Second)
		defer cancel()
		start := time.Now()
		_, err := tr.RoundTrip(post(t, "http://vendor.test").WithContext(ctx))
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, throttle.ErrDenied) {
			t.Errorf("error %v, want a denial that is a deadline error too", err)
		}
		if err != nil && (!strings.Contains(err.Error(), "headgate") || !strings.Contains(err.Error(), `"`+model+`"`)) {
			t.Errorf("%q names neither the throttle nor the model", err)
		}
		if waited := time.Since(start); waited >= time.Second {
			t.Errorf("took %v, want no wait", waited)
		}
	})
}

// B69: whatever a call waits for, its cancellation ends the wait.
func TestB69CancelEndsTheWait(t *testing.T) {
	for name, c := range map[string]struct {
		base stub
		with func(*throttle.Config)
	}{
		"queued":        {ok, full},
		"pause of 60 s": {busy, func(*throttle.Config) {}},
	} {
		for _, by := range []string{"context", "Request.Cancel", "http.Client.Timeout"} {
			t.Run(name+"/"+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testCancelledWait(t, c.base, c.with, by) })
			})
		}
	}
}

func testCancelledWait(t *testing.T, base stub, with func(*throttle.Config), by string) {
	th := newThrottle(t, waiting, with)
	tr := through(th, base)
	spend(t, tr)
	ctx, cancel := context.WithCancel(as(context.Background()))
	defer cancel()
	req := post(t, "http://vendor.test").WithContext(ctx)
	end, client := cancel, &http.Client{Transport: tr}
	switch by {
	case "Request.Cancel":
		stop := make(chan struct{})
		withCancel(req, stop)
		end = func() { close(stop) }
	case "http.Client.Timeout":
		client.Timeout = 100 * time.Millisecond
		end = func() {}
	}
	start := time.Now()
	time.AfterFunc(100*time.Millisecond, end)
	_, err := client.Do(req)
	if err == nil {
		t.Fatal("the call went through")
	}
	if took := time.Since(start); took > 150*time.Millisecond {
		t.Errorf("returned after %v, want at most 50 ms after the end at 100 ms", took)
	}
	if by == "http.Client.Timeout" {
		var timeout interface{ Timeout() bool }
		if !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("%v isn't a timeout", err)
		}
	} else if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

// B70: a wait that is known to be too long isn't begun.
func TestB70PauseLongerThanTheDeadlineFailsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := through(newThrottle(t, waiting), busy)
		spend(t, tr)
		ctx, cancel := context.WithTimeout(as(context.Background()), 5*time.Second)
		defer cancel()
		start := time.Now()
		_, err := tr.RoundTrip(post(t, "http://vendor.test").WithContext(ctx))
		var d *throttle.DeniedError
		if !errors.As(err, &d) || !errors.Is(err, throttle.ErrPaused) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error %v, want ErrPaused that is a deadline error too", err)
		}
		if d.RetryAfter < 59*time.Second || d.RetryAfter > 75*time.Second {
			t.Errorf("come back in %v, want about 60 s", d.RetryAfter)
		}
		if took := time.Since(start); took >= time.Second {
			t.Errorf("took %v, want no wait", took)
		}
	})
}

// B06: a request that has ended already costs nothing.
func TestPreCancelledRequestIsNeitherSentNorCharged(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	ctx, cancel := context.WithCancel(as(context.Background()))
	cancel()
	for name, req := range map[string]*http.Request{
		"context":        post(t, "http://vendor.test").WithContext(ctx),
		"Request.Cancel": withCancel(post(t, "http://vendor.test"), closed),
	} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			th := newThrottle(t)
			_, err := headgate.NewTransport(th, dialect.OpenAI, headgate.WithBase(stub(func(*http.Request) (*http.Response, error) {
				t.Error("sent")
				return reply(200, nil), nil
			}))).RoundTrip(req)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want context.Canceled", err)
			}
			wantUsed(t, th, 0, 0)
		})
	}
}
