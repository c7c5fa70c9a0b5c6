package headgate_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

var stripe = dialect.Stripe

var (
	dialError = &net.OpError{Op: "dial", Err: errors.New("refused")}
	tlsError  = &tls.CertificateVerificationError{Err: errors.New("unknown authority")}
	cutError  = &net.OpError{Op: "read", Err: errors.New("reset")}
)

// B106, B109, B110: what may have arrived is sent again only where the request
// may be, and what surely did nothing is.
func TestWhatMayHaveArrivedIsNotReplayed(t *testing.T) {
	flex := says(429, `{"error":{"message":"Resource Unavailable"}}`, "Retry-After-Ms", "10")
	for name, c := range map[string]struct {
		answer   func() (*http.Response, error)
		post     int // attempts of a POST
		postKey  int // of one with an idempotency key
		get      int
		requests int64 // charged for the POST
	}{
		"busy":            {says(429, busyBody, "Retry-After-Ms", "10"), 2, 2, 2, 2},
		"undone overload": {flex, 2, 2, 2, 2},
		"dial error":      {fails(dialError), 2, 2, 2, 1},
		"TLS error":       {fails(tlsError), 2, 2, 2, 1},
		"cut off":         {fails(cutError), 1, 2, 2, 1},
		"unknown error":   {fails(errors.New("?")), 1, 2, 2, 1},
		"overloaded":      {says(503, "{}", "Retry-After-Ms", "10"), 1, 2, 2, 1},
		"529":             {says(529, "{}", "Retry-After-Ms", "10"), 1, 2, 2, 1},
		"500":             {says(500, "{}"), 1, 2, 2, 1},
		"502":             {says(502, "{}"), 1, 2, 2, 1},
		"504":             {says(504, "{}"), 1, 2, 2, 1},
		"bad request":     {says(400, "{}"), 1, 1, 1, 1},
		"refused key":     {says(401, `{"error":{"code":"invalid_api_key"}}`), 1, 1, 1, 1},
		"no credit":       {says(429, `{"error":{"code":"insufficient_quota"}}`), 1, 1, 1, 1},
		"denied model":    {says(404, `{"error":{"code":"model_not_found"}}`), 1, 1, 1, 1},
		"redirect":        {says(302, "", "Location", "/x"), 1, 1, 1, 1},
		"fine":            {fine, 1, 1, 1, 1},
	} {
		for method, want := range map[string]int{"POST": c.post, "POST with a key": c.postKey, "GET": c.get} {
			t.Run(name+"/"+method, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					base := newScript(c.answer, fine)
					th := newThrottle(t, patient(-1))
					req := post(t, "http://vendor.test")
					switch method {
					case "GET":
						req, _ = http.NewRequestWithContext(req.Context(), "GET", "http://vendor.test/", nil)
					case "POST with a key":
						req.Header.Set("Idempotency-Key", "k")
					}
					resp, err := through(th, base.RoundTrip, headgate.WithRetries(1)).RoundTrip(req)
					if want == 2 && (err != nil || resp.StatusCode != 200) {
						t.Errorf("got %v, %v, want the second answer", resp, err)
					}
					if resp != nil {
						resp.Body.Close()
					}
					if n := len(base.attempts); n != want {
						t.Errorf("%d attempts, want %d", n, want)
					}
					if method == "POST" && c.post == 2 {
						time.Sleep(time.Hour)
						if r, _ := used(t, th); r != c.requests {
							t.Errorf("%d requests charged, want %d", r, c.requests)
						}
					}
				})
			})
		}
	}
}

// What counts as an idempotency key is what net/http takes for one, if the
// vendor gets to see it.
func TestWhatSaysThatARequestMayBeSentAgain(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		header http.Header
		want   int
	}{
		"key":          {"POST", http.Header{"Idempotency-Key": {"k"}}, 2},
		"X-key":        {"POST", http.Header{"X-Idempotency-Key": {"k"}}, 2},
		"empty list":   {"POST", http.Header{"Idempotency-Key": {}}, 2},
		"blank key":    {"POST", http.Header{"Idempotency-Key": {" "}}, 1},
		"other header": {"POST", http.Header{"X-Request-Id": {"k"}}, 1},
		"no method":    {"", nil, 2},
		"HEAD":         {"HEAD", nil, 2},
		"OPTIONS":      {"OPTIONS", nil, 2},
		"TRACE":        {"TRACE", nil, 2},
		"PUT":          {"PUT", nil, 1},
		"DELETE":       {"DELETE", nil, 1},
		"PATCH":        {"PATCH", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newScript(says(500, "{}"), fine)
				req, _ := http.NewRequestWithContext(as(context.Background()), c.method, "http://vendor.test/", nil)
				req.Method = c.method
				for name, values := range c.header {
					req.Header[name] = values
				}
				read(t, through(newThrottle(t), base.RoundTrip, headgate.WithRetries(1)), req)
				if n := len(base.attempts); n != c.want {
					t.Errorf("%d attempts, want %d", n, c.want)
				}
			})
		})
	}
}

// Without GetBody there is no second body to send, and where GetBody fails there
// is none either: the caller has the answer.
func TestNoRetryWithoutABody(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"no GetBody": {func(r *http.Request) { r.GetBody = nil }, 1},
		"NoBody":     {func(r *http.Request) { r.Body, r.GetBody, r.ContentLength = http.NoBody, nil, 0 }, 2},
		"no body":    {func(r *http.Request) { r.Body, r.GetBody, r.ContentLength = nil, nil, 0 }, 2},
		"GetBody fails": {func(r *http.Request) {
			r.GetBody = func() (io.ReadCloser, error) { return nil, errors.New("gone") }
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newScript(says(429, busyBody, "Retry-After-Ms", "10"), fine)
				th := newThrottle(t, patient(-1))
				req := post(t, "http://vendor.test")
				c.change(req)
				status, body := read(t, through(th, base.RoundTrip, headgate.WithRetries(1)), req)
				if n := len(base.attempts); n != c.want || n == 1 && (status != 429 || body != busyBody) {
					t.Errorf("%d attempts, want %d; status %d, %s", n, c.want, status, body)
				}
				time.Sleep(time.Hour)
				if r, _ := used(t, th); r != int64(c.want) {
					t.Errorf("%d requests charged, want %d", r, c.want)
				}
			})
		})
	}
}

// A probe decides about the key for everybody, once per interval.
func TestAProbeIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newScript(says(401, `{"error":{"code":"invalid_api_key"}}`), says(429, busyBody, "Retry-After", "1"), fine)
		tr := through(newThrottle(t, patient(-1)), base.RoundTrip, headgate.WithRetries(3))
		spend(t, tr)
		time.Sleep(5 * time.Minute)
		if status, _ := read(t, tr, post(t, "http://vendor.test")); status != 429 || len(base.attempts) != 2 {
			t.Errorf("status %d, %d attempts, want the probe's 429 alone", status, len(base.attempts))
		}
	})
}

// An error in an answer of 200 comes when the caller has the answer already.
func TestAStartedAnswerIsNotReplayed(t *testing.T) {
	base := newScript(says(200, `{"error":{"code":"rate_limit_exceeded"}}`), fine)
	busyIn200 := dialect.New("own", dialect.OpenAI, dialect.Custom{
		Judge: func(*http.Response, []byte, throttle.Verdict) throttle.Verdict {
			return throttle.Verdict{Class: throttle.Busy}
		},
	})
	for _, d := range []dialect.Dialect{dialect.OpenAI, busyIn200} {
		base.attempts = nil
		tr := headgate.NewTransport(newThrottle(t), d, headgate.WithBase(base), headgate.WithRetries(3))
		req, _ := http.NewRequestWithContext(as(context.Background()), "GET", "http://vendor.test/", nil)
		if read(t, tr, req); len(base.attempts) != 1 {
			t.Errorf("%s: %d attempts", d.Name(), len(base.attempts))
		}
	}
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
