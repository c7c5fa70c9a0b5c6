package headgate_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// Every call of these tests is guessed at 7 tokens of input and 1024 of output,
// and costs 12 and 8.
const (
	unbounded = `{"model":"m","messages":[]}`
	guessed   = 7 + 1024
	cost      = 12 + 8

	smallUsage = `"usage":{"prompt_tokens":12,"completion_tokens":8,"total_tokens":20}`
)

// unstated builds a request that says nothing of its cost.
func unstated(t *testing.T) *http.Request {
	t.Helper()
	ctx := headgate.WithCall(context.Background(), throttle.Call{Account: account})
	req, err := http.NewRequestWithContext(ctx, "POST", "http://vendor.test/v1/chat/completions", strings.NewReader(unbounded))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	return req
}

// spends returns a base that gives every call the same answer.
func spends(contentType, body string) stub {
	return func(*http.Request) (*http.Response, error) {
		r := reply(200, io.NopCloser(strings.NewReader(body)))
		r.Header.Set("Content-Type", contentType)
		return r, nil
	}
}

// held starts a call that lasts as long as the test.
func held(t *testing.T, tr http.RoundTripper) error {
	t.Helper()
	resp, err := tr.RoundTrip(unstated(t))
	if err == nil {
		t.Cleanup(func() { resp.Body.Close() })
	}
	return err
}

// atOnce is how many calls the throttle lets run at once, at most most.
func atOnce(t *testing.T, tr http.RoundTripper, most int) (n int) {
	t.Helper()
	for ; n < most; n++ {
		if err := held(t, tr); errors.Is(err, throttle.ErrBudget) {
			return n
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// tokensADay leaves one limit.
func tokensADay(n int64) func(*throttle.Config) {
	return func(c *throttle.Config) { c.Budgets[0].Limits = []throttle.Limit{throttle.Tokens(n, day)} }
}

func TestGuessesComeNearTheTruthWithinAHundredCalls(t *testing.T) {
	th := newThrottle(t, tokensADay(5000))
	tr := through(th, spends("application/json", "{"+smallUsage+"}"))
	if n := atOnce(t, through(newThrottle(t, tokensADay(5000)), answered), 100); n != 5000/guessed {
		t.Fatalf("%d calls at once before anything is known, want %d", n, 5000/guessed)
	}
	for range 100 {
		drain(t, &http.Client{Transport: tr}, unstated(t))
	}
	left := 5000 - 100*cost
	if n := atOnce(t, tr, left); n < left/cost*3/4 {
		t.Errorf("%d calls at once fit into %d tokens, though one costs %d", n, left, cost)
	}
}

// A guess larger than the limit is charged as the whole of it, so that calls go
// one by one, each once the window is empty, until more is known.
func TestASmallTokenLimitCanBeUsedWithoutMaxTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, waiting, func(c *throttle.Config) {
			c.Budgets[0].Limits = []throttle.Limit{throttle.Tokens(300, time.Minute)}
		})
		tr := through(th, spends("application/json", "{"+smallUsage+"}"))
		last := func(calls int) time.Duration {
			began := time.Now()
			for range calls {
				drain(t, &http.Client{Transport: tr}, unstated(t))
			}
			return time.Since(began)
		}
		if took := last(8); took > 8*2*time.Minute {
			t.Errorf("the first eight took %v", took)
		}
		if took := last(100); took > 100*cost/300*2*time.Minute {
			t.Errorf("the next hundred took %v, though %d fit into a minute", took, 300/cost)
		}
	})
}

func TestOnlyWholeAnswersWithUsageTeach(t *testing.T) {
	const chunk = "data: {\"choices\":[]," + smallUsage + "}\n\n"
	whole := func(resp *http.Response) { io.Copy(io.Discard, resp.Body) }
	for name, c := range map[string]struct {
		contentType, body string
		read              func(*http.Response)
		want              int64
	}{
		"whole":              {"text/event-stream", chunk + "data: [DONE]\n\n", whole, cost},
		"closed early":       {"text/event-stream", chunk + chunk, func(resp *http.Response) { io.ReadFull(resp.Body, make([]byte, len(chunk))) }, guessed},
		"without usage":      {"text/event-stream", "data: [DONE]\n\n", whole, guessed},
		"an error in it":     {"text/event-stream", chunk + "data: {\"error\":{\"code\":\"server_error\"}}\n\n", whole, guessed},
		"refused by a judge": {"application/json", `{"refused":true,` + smallUsage + "}", whole, guessed},
	} {
		t.Run(name, func(t *testing.T) {
			th := newThrottle(t)
			judged := dialect.New("judged", dialect.OpenAI, dialect.Custom{
				Judge: func(resp *http.Response, body []byte, v throttle.Verdict) throttle.Verdict {
					if strings.Contains(string(body), "refused") {
						v.Class = throttle.BadRequest
					}
					return v
				},
			})
			tr := headgate.NewTransport(th, judged, headgate.WithBase(stub(func(r *http.Request) (*http.Response, error) {
				resp, err := spends(c.contentType, c.body)(r)
				resp.ContentLength = int64(len(c.body))
				return resp, err
			})))
			for range 20 {
				resp, err := tr.RoundTrip(unstated(t))
				if err != nil {
					t.Fatal(err)
				}
				c.read(resp)
				resp.Body.Close()
			}
			_, before := used(t, th)
			if err := held(t, tr); err != nil {
				t.Fatal(err)
			}
			if _, after := used(t, th); after-before != c.want {
				t.Errorf("the next call is charged %d tokens, want %d", after-before, c.want)
			}
		})
	}
}

// send sends a request and reads the answer, on any goroutine.
func send(t *testing.T, c *http.Client, url string) {
	resp, err := c.Do(post(t, url))
	if err != nil {
		t.Error(err)
		return
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}

// queued is how many calls wait, as of a second ago at most.
func queued(t *testing.T, th *throttle.Throttle) int {
	t.Helper()
	s, err := th.Status(context.Background())
	if err != nil {
		t.Error(err)
	}
	return s.Waiting
}

// A vendor with 1000 tokens a minute and calls of 500: two go, and what they
// didn't use lets the next go that waits.
func TestTokensAreReservedAndTheRestIsFreed(t *testing.T) {
	thousand := func(c *throttle.Config) {
		c.Budgets[0].Limits = []throttle.Limit{throttle.Tokens(1000, time.Minute)}
	}
	t.Run("twenty at once", func(t *testing.T) { // B21
		done := make(chan struct{})
		v := newVendor(t, func(w http.ResponseWriter, r *http.Request) {
			<-done
			answer(200, usageBody)(w, r)
		})
		client := v.wrap(t, newThrottle(t, thousand))
		var denied atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				resp, err := client.Do(post(t, v.URL))
				if err == nil {
					resp.Body.Close()
				} else if errors.Is(err, throttle.ErrBudget) && denied.Add(1) == 18 {
					close(done)
				}
			})
		}
		all.Wait()
		if v.hits.Load() != 2 || denied.Load() != 18 {
			t.Errorf("%d reached the vendor and %d were denied, want 2 and 18", v.hits.Load(), denied.Load())
		}
	})
	t.Run("a third waits", func(t *testing.T) {
		done := make(chan struct{})
		v := newVendor(t, func(w http.ResponseWriter, r *http.Request) {
			<-done
			answer(200, usageBody)(w, r)
		})
		th := newThrottle(t, thousand, waiting)
		client := v.wrap(t, th)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { send(t, client, v.URL) })
		}
		if !eventually(func() bool { return v.hits.Load() == 2 && queued(t, th) == 1 }) {
			t.Errorf("%d reached the vendor and %d wait, want 2 and 1", v.hits.Load(), queued(t, th))
		}
		began := time.Now()
		close(done) // each has used 100 of its 500
		all.Wait()
		if took := time.Since(began); v.hits.Load() != 3 || took > 10*time.Second {
			t.Errorf("%d reached the vendor, the last after %v", v.hits.Load(), took)
		}
	})
}
