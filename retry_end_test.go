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
)

// A retry is admitted as any call is: where its lane can't wait that long, the
// caller has the vendor's answer at once and whole.
func TestARetryThatCantComeInTimeLeavesTheVendorsAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		wait     time.Duration
		deadline time.Duration
		opts     []headgate.Option
	}{
		"lane never waits":      {wait: 0},
		"lane waits too short":  {wait: 5 * time.Second},
		"deadline is too near":  {wait: -1, deadline: 5 * time.Second},
		"with denied responses": {wait: 0, opts: []headgate.Option{headgate.WithDeniedResponses()}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				long := busyBody + strings.Repeat(" ", 200_000)
				base := newScript(says(429, long, "Retry-After", "60", "X-Own", "1"), fine)
				th := newThrottle(t, patient(c.wait))
				req := post(t, "http://vendor.test")
				if c.deadline > 0 {
					ctx, cancel := context.WithTimeout(req.Context(), c.deadline)
					defer cancel()
					req = req.WithContext(ctx)
				}
				tr := through(th, base.RoundTrip, append(c.opts, headgate.WithRetries(3))...)
				resp, err := tr.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if _, denied := headgate.DeniedFrom(resp); denied || err != nil || string(text) != long || resp.Header.Get("X-Own") != "1" || resp.Request != req {
					t.Errorf("denied %v, %d bytes, %v, header %v", denied, len(text), err, resp.Header)
				}
				if took := time.Since(base.start); took > 0 || len(base.attempts) != 1 {
					t.Errorf("took %v and %d attempts, want one at once", took, len(base.attempts))
				}
			})
		})
	}
}

// The request's end, in each of its forms, ends a backoff and a pause at once,
// and what is left of the answer is closed.
func TestB69TheRequestsEndEndsTheWaitForARetry(t *testing.T) {
	for name, answer := range map[string]int{"backoff": 500, "pause": 429} {
		for _, by := range []string{"context", "Request.Cancel", "http.Client.Timeout"} {
			t.Run(name+"/"+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testCancelledRetry(t, answer, by) })
			})
		}
	}
}

func testCancelledRetry(t *testing.T, status int, by string) {
	body := &counted{Reader: strings.NewReader("{}")}
	start, sent := time.Now(), 0
	th := newThrottle(t, patient(-1))
	tr := through(th, func(*http.Request) (*http.Response, error) {
		sent++
		return reply(status, body), nil
	}, headgate.WithRetries(3))
	ctx, cancel := context.WithCancel(as(context.Background()))
	defer cancel()
	req := post(t, "http://vendor.test").WithContext(ctx)
	req.Header.Set("Idempotency-Key", "k")
	end, client := cancel, &http.Client{Transport: tr}
	switch by {
	case "Request.Cancel":
		stop := make(chan struct{})
		withCancel(req, stop)
		end = func() { close(stop) }
	case "http.Client.Timeout":
		client.Timeout = time.Hour // there is one, but it isn't near
	}
	time.AfterFunc(100*time.Millisecond, end)
	resp, err := client.Do(req)
	if !errors.Is(err, context.Canceled) || resp != nil {
		t.Fatalf("got %v, %v, want context.Canceled", resp, err)
	}
	if took := time.Since(start); took != 100*time.Millisecond || sent != 1 {
		t.Errorf("returned after %v and %d attempts, want 100 ms and one", took, sent)
	}
	if body.closes.Load() != 1 {
		t.Errorf("the answer's body was closed %d times, want once", body.closes.Load())
	}
	time.Sleep(time.Hour)
	wantUsed(t, th, 1, 500)
}

// A wait that a deadline would cut off isn't begun.
func TestABackoffThatOutlastsTheDeadlineIsNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newScript(says(500, "{}"))
		ctx, cancel := context.WithTimeout(as(context.Background()), 200*time.Millisecond)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, "GET", "http://vendor.test/", nil)
		status, _ := read(t, through(newThrottle(t), base.RoundTrip, headgate.WithRetries(3)), req)
		if took := time.Since(base.start); status != 500 || took > 0 {
			t.Errorf("status %d after %v, want 500 at once", status, took)
		}
	})
}
