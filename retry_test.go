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
	"github.com/headgate-go/headgate/throttle"
)

// An attempt is what a script saw of a request.
type attempt struct {
	at   time.Duration // since the script began
	body string
	req  *http.Request
}

// A script is a base that answers in order, and then goes on with its last
// answer.
type script struct {
	start    time.Time
	answers  []func() (*http.Response, error)
	attempts []attempt
}

func newScript(answers ...func() (*http.Response, error)) *script {
	return &script{start: time.Now(), answers: answers}
}

func (s *script) RoundTrip(req *http.Request) (*http.Response, error) {
	a := attempt{at: time.Since(s.start), req: req}
	if req.Body != nil {
		text, _ := io.ReadAll(req.Body)
		req.Body.Close()
		a.body = string(text)
	}
	answer := s.answers[min(len(s.attempts), len(s.answers)-1)]
	s.attempts = append(s.attempts, a)
	return answer()
}

// says returns an answer with a body and headers.
func says(status int, body string, header ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		resp := reply(status, io.NopCloser(strings.NewReader(body)))
		for i := 0; i+1 < len(header); i += 2 {
			resp.Header.Add(header[i], header[i+1])
		}
		return resp, nil
	}
}

func fails(err error) func() (*http.Response, error) {
	return func() (*http.Response, error) { return nil, err }
}

var (
	fine = says(200, usageBody)
)

const busyBody = `{"error":{"code":"rate_limit_exceeded"}}`

// patient gives the throttle one lane that waits for as long as it says.
func patient(wait time.Duration) func(*throttle.Config) {
	return func(c *throttle.Config) { waiting(c); c.Lanes[0].Wait = wait }
}

// read sends a request and returns its answer's status and body.
func read(t *testing.T, rt http.RoundTripper, req *http.Request) (int, string) {
	t.Helper()
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// D: a retry leaves no earlier than the vendor said, whatever form that has, and
// not much later.
func TestARetryRespectsTheVendorsFloor(t *testing.T) {
	date := func(in time.Duration) string { return time.Now().Add(in).UTC().Format(http.TimeFormat) }
	for name, c := range map[string]struct {
		header      func() []string
		floor, most time.Duration
	}{
		"seconds":      {func() []string { return []string{"Retry-After", "3"} }, 3 * time.Second, 7 * time.Second},
		"milliseconds": {func() []string { return []string{"Retry-After-Ms", "200"} }, 200 * time.Millisecond, 1200 * time.Millisecond},
		"fraction":     {func() []string { return []string{"Retry-After", "0.02"} }, 250 * time.Millisecond, 1200 * time.Millisecond},
		"the later":    {func() []string { return []string{"Retry-After", "1", "Retry-After", "4"} }, 4 * time.Second, 9 * time.Second},
		"HTTP-date":    {func() []string { return []string{"Retry-After", date(20 * time.Second), "Date", date(0)} }, 20 * time.Second, 31 * time.Second},
		"clock is wrong": {func() []string {
			return []string{"Retry-After", date(80 * time.Second), "Date", date(60 * time.Second)}
		}, 20 * time.Second, 31 * time.Second},
		// No wait at all: the throttle's own pause of 30 s.
		"negative":  {func() []string { return []string{"Retry-After", "-5"} }, 30 * time.Second, 41 * time.Second},
		"past date": {func() []string { return []string{"Retry-After", "Wed, 21 Oct 1995 07:28:00 GMT"} }, 30 * time.Second, 41 * time.Second},
		"none":      {func() []string { return nil }, 30 * time.Second, 41 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newScript(says(429, busyBody, c.header()...), fine)
				tr := through(newThrottle(t, patient(-1)), base.RoundTrip, headgate.WithRetries(2))
				if status, _ := read(t, tr, post(t, "http://vendor.test")); status != 200 {
					t.Errorf("status %d, want 200", status)
				}
				if n := len(base.attempts); n != 2 {
					t.Fatalf("%d attempts, want 2", n)
				}
				if at := base.attempts[1].at; at < c.floor || at > c.most {
					t.Errorf("the retry left after %v, want %v to %v", at, c.floor, c.most)
				}
			})
		})
	}
}

// The floor holds where the throttle's own pause is shorter than it, and where
// it is about the request alone and so pauses nothing.
func TestAFloorThatNoPauseKeeps(t *testing.T) {
	for name, c := range map[string]struct {
		answer   func() (*http.Response, error)
		change   func(*throttle.Config)
		attempts int
		least    time.Duration // of the second
		most     time.Duration // of the whole
		deadline time.Duration // 0: none
	}{
		"pause is cut short": {says(429, busyBody, "Retry-After", "60"), func(c *throttle.Config) { c.Pause.Max = 10 * time.Second }, 1, 0, 25 * time.Second, 0},
		"by little":          {says(429, busyBody, "Retry-After-Ms", "10200"), func(c *throttle.Config) { c.Pause.Max = 10 * time.Second }, 2, 10200 * time.Millisecond, 25 * time.Second, 0},
		"after the deadline": {says(429, busyBody, "Retry-After", "60"), func(c *throttle.Config) { c.Pause.Max = 10 * time.Second }, 1, 0, 0, 30 * time.Second},
		"endless":            {says(429, busyBody, "Retry-After", "3600"), func(c *throttle.Config) { c.Pause.Max = time.Hour }, 1, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newScript(c.answer, fine)
				th := newThrottle(t, patient(-1), c.change)
				req := post(t, "http://vendor.test")
				if c.deadline > 0 {
					ctx, cancel := context.WithTimeout(req.Context(), c.deadline)
					defer cancel()
					req = req.WithContext(ctx)
				}
				read(t, through(th, base.RoundTrip, headgate.WithRetries(1)), req)
				if took := time.Since(base.start); took > c.most {
					t.Errorf("took %v, want at most %v", took, c.most)
				}
				if n := len(base.attempts); n != c.attempts || n > 1 && base.attempts[1].at < c.least {
					t.Errorf("attempts %v, want %d, the second after %v", base.attempts, c.attempts, c.least)
				}
				time.Sleep(2 * time.Hour) // for the pause to end
				if charged, _ := used(t, th); charged != int64(c.attempts) {
					t.Errorf("%d requests charged, want %d", charged, c.attempts)
				}
			})
		})
	}
}

// Stripe's lock_timeout is about one object, so nothing is paused and no lane is
// asked.
func TestAWaitThatPausesNothingIsSlept(t *testing.T) {
	for retryAfter, attempts := range map[string]int{"2": 2, "31": 1} {
		synctest.Test(t, func(t *testing.T) {
			base := newScript(says(429, `{"error":{"code":"lock_timeout"}}`, "Retry-After", retryAfter), fine)
			tr := headgate.NewTransport(newThrottle(t), stripe, headgate.WithBase(base), headgate.WithRetries(1))
			read(t, tr, post(t, "http://vendor.test"))
			if n := len(base.attempts); n != attempts {
				t.Fatalf("Retry-After %s: %d attempts, want %d", retryAfter, n, attempts)
			}
			if attempts == 2 && (base.attempts[1].at < 2250*time.Millisecond || base.attempts[1].at > 2800*time.Millisecond) {
				t.Errorf("the retry left after %v, want 2 s and a jitter of 250 to 750 ms", base.attempts[1].at)
			}
		})
	}
}

// B49, B108: exactly the number that was asked for, each charged, and no wait
// multiplied.
func TestB108RetriesAreExactlyAsManyAsAskedForAndCharged(t *testing.T) {
	for retries := range 4 {
		synctest.Test(t, func(t *testing.T) {
			base := newScript(says(429, busyBody, "Retry-After", "10"))
			th := newThrottle(t, patient(-1))
			req := post(t, "http://vendor.test")
			text, _ := io.ReadAll(req.Body)
			req.Body = io.NopCloser(strings.NewReader(string(text)))
			status, body := read(t, through(th, base.RoundTrip, headgate.WithRetries(retries)), req)
			if status != 429 || body != busyBody {
				t.Errorf("the caller got %d %s, want the vendor's last word", status, body)
			}
			if n := len(base.attempts); n != 1+retries {
				t.Errorf("%d attempts with WithRetries(%d)", n, retries)
			}
			for i, a := range base.attempts {
				if a.body != string(text) || a.req.ContentLength != int64(len(text)) {
					t.Errorf("attempt %d sent %q, length %d", i, a.body, a.req.ContentLength)
				}
				if i > 0 && a.at-base.attempts[i-1].at > 21*time.Second {
					t.Errorf("attempt %d came %v after the one before", i, a.at-base.attempts[i-1].at)
				}
			}
			time.Sleep(time.Hour) // for the pause to end
			wantUsed(t, th, int64(1+retries), int64(1+retries)*500)
		})
	}
}

// Backoffs grow and vary, within their bounds.
func TestBackoffsGrowWithJitter(t *testing.T) {
	seen := map[time.Duration]bool{}
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			base := newScript(says(500, "{}"))
			req, _ := http.NewRequestWithContext(as(context.Background()), "GET", "http://vendor.test/", nil)
			read(t, through(newThrottle(t), base.RoundTrip, headgate.WithRetries(7)), req)
			middle := 500 * time.Millisecond
			for i, a := range base.attempts[1:] {
				if gap := a.at - base.attempts[i].at; gap < middle/2 || gap > middle*3/2+time.Millisecond {
					t.Errorf("backoff %d is %v, want %v, half more or less", i, gap, middle)
				}
				middle = min(2*middle, 8*time.Second)
			}
			seen[base.attempts[1].at] = true
		})
	}
	if len(seen) < 10 {
		t.Errorf("%d different first backoffs of 20", len(seen))
	}
}
