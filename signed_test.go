package headgate_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// A signature is good for five minutes from when it was made, so no retry leaves
// later than four.
func TestNoRetryOfAnOldSignature(t *testing.T) {
	stamp := func(age time.Duration) string { return time.Now().Add(-age).UTC().Format("20060102T150405Z") }
	for name, c := range map[string]struct {
		sign       func(*http.Request)
		want       int
		retryAfter string // "": 10 s
	}{
		"fresh":                     {func(r *http.Request) { r.Header.Set("X-Amz-Date", stamp(0)) }, 2, ""},
		"three":                     {func(r *http.Request) { r.Header.Set("X-Amz-Date", stamp(3*time.Minute)) }, 2, ""},
		"nearly":                    {func(r *http.Request) { r.Header.Set("X-Amz-Date", stamp(235*time.Second)) }, 1, ""},
		"old":                       {func(r *http.Request) { r.Header.Set("X-Amz-Date", stamp(5*time.Minute)) }, 1, ""},
		"in future":                 {func(r *http.Request) { r.Header.Set("X-Amz-Date", stamp(-time.Hour)) }, 2, ""},
		"in future, so from now on": {func(r *http.Request) { r.Header.Set("X-Amz-Date", stamp(-time.Hour)) }, 1, "250"},
		"by Date": {func(r *http.Request) {
			r.Header.Set("Date", time.Now().Add(-5*time.Minute).UTC().Format(http.TimeFormat))
		}, 1, ""},
		"no date": {func(r *http.Request) {}, 2, ""},
		"in the query": {func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery = "X-Amz-Signature=0&X-Amz-Date=" + stamp(235*time.Second)
		}, 1, ""},
		"not signed": {func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer k")
			r.Header.Set("X-Amz-Date", stamp(time.Hour))
		}, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newScript(says(429, `{"__type":"ThrottlingException"}`, "Retry-After", orElse(c.retryAfter, "10")), fine)
				req := post(t, "http://vendor.test")
				req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=ID/20000101/r/bedrock/aws4_request, Signature=0")
				c.sign(req)
				tr := headgate.NewTransport(newThrottle(t, patient(-1)), dialect.Bedrock, headgate.WithBase(base), headgate.WithRetries(1))
				read(t, tr, req)
				if n := len(base.attempts); n != c.want {
					t.Errorf("%d attempts, want %d", n, c.want)
				}
				if c.want == 1 && time.Since(base.start) > 0 {
					t.Errorf("took %v, want no wait", time.Since(base.start))
				}
			})
		})
	}
}

// The wait for room ends in time, too: another call's pause may be longer than
// the one that the attempt met.
func TestASignedRetryWaitsNoLongerThanItsSignature(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var base *script
		var th *throttle.Throttle
		base = newScript(func() (*http.Response, error) {
			own, err := th.Acquire(context.Background(), throttle.Call{Account: account, Model: model})
			if err != nil {
				t.Fatal(err)
			}
			own.Answered(throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: 290 * time.Second})
			own.Done()
			return says(429, busyBody, "Retry-After", "10")()
		}, fine)
		th = newThrottle(t, patient(-1))
		req := post(t, "http://vendor.test")
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=ID/20000101/r/bedrock/aws4_request, Signature=0")
		status, _ := read(t, through(th, base.RoundTrip, headgate.WithRetries(1)), req)
		if took := time.Since(base.start); status != 429 || took > 0 {
			t.Errorf("status %d after %v, want the vendor's 429 at once", status, took)
		}
	})
}

// A backoff that would outlast the signature isn't begun.
func TestNoBackoffBeyondASignature(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newScript(says(500, "{}"), fine)
		req, _ := http.NewRequestWithContext(as(context.Background()), "GET", "http://vendor.test/", nil)
		req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=ID/20000101/r/bedrock/aws4_request, Signature=0")
		req.Header.Set("X-Amz-Date", time.Now().Add(-4*time.Minute).UTC().Format("20060102T150405Z"))
		status, _ := read(t, through(newThrottle(t), base.RoundTrip, headgate.WithRetries(1)), req)
		if took := time.Since(base.start); status != 500 || took > 0 {
			t.Errorf("status %d after %v, want the 500 at once", status, took)
		}
	})
}
