package headgate_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// deadAddress returns the URL of a port that nobody listens on.
func deadAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func TestNeverSentGivesEverythingBack(t *testing.T) {
	plain := newVendor(t, answer(200, usageBody))
	secure := newVendor2(t, answer(200, usageBody))
	ctx, cancel := context.WithCancel(as(context.Background()))
	defer cancel()
	for name, c := range map[string]struct {
		base *http.Transport
		url  string
		ctx  context.Context
	}{
		"connection refused":      {url: deadAddress(t)},
		"unknown certificate":     {url: secure.URL},
		"no TLS at the other end": {url: strings.Replace(plain.URL, "http:", "https:", 1)},
		"context ends while dialling": {url: plain.URL, ctx: ctx, base: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				cancel()
				<-ctx.Done()
				return nil, ctx.Err()
			},
		}},
		"dialler's own error": {url: plain.URL, base: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route") },
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.base == nil {
				c.base = &http.Transport{}
			}
			defer c.base.CloseIdleConnections()
			th := newThrottle(t)
			req := post(t, c.url)
			if c.ctx != nil {
				req = req.WithContext(c.ctx)
			}
			if _, err := headgate.NewTransport(th, dialect.OpenAI, headgate.WithBase(c.base)).RoundTrip(req); err == nil {
				t.Fatal("no error")
			}
			wantUsed(t, th, 0, 0)
		})
	}
	if plain.hits.Load()+secure.hits.Load() != 0 {
		t.Error("a request arrived after all")
	}
}

// A base that traces nothing is believed only where its error is plain.
func TestUntracedBaseIsTakenToHaveSent(t *testing.T) {
	for name, c := range map[string]struct {
		err      error
		requests int64
	}{
		"dial":             {&net.OpError{Op: "dial", Err: errors.New("refused")}, 0},
		"read":             {&net.OpError{Op: "read", Err: errors.New("reset")}, 1},
		"anything":         {errors.New("no idea"), 1},
		"context deadline": {context.DeadlineExceeded, 1},
	} {
		t.Run(name, func(t *testing.T) {
			th := newThrottle(t)
			_, err := through(th, func(*http.Request) (*http.Response, error) { return nil, c.err }).RoundTrip(post(t, "http://vendor.test"))
			if err != c.err {
				t.Errorf("error %v, want the base's own", err)
			}
			wantUsed(t, th, c.requests, c.requests*500)
		})
	}
}

// The call is let through, and its caller leaves before it is sent.
func TestContextThatEndsBeforeSendingGivesEverythingBack(t *testing.T) {
	for _, by := range []string{"context", "Request.Cancel"} {
		t.Run(by, func(t *testing.T) {
			ctx, cancel := context.WithCancel(as(context.Background()))
			defer cancel()
			body := &counted{Reader: strings.NewReader("{}")}
			req := postBody(t, "http://vendor.test", body).WithContext(ctx)
			leave := cancel
			if by == "Request.Cancel" {
				stop := make(chan struct{})
				withCancel(req, stop)
				leave = sync.OnceFunc(func() { close(stop) })
			}
			th := newThrottle(t, func(c *throttle.Config) {
				c.Observe = func(e throttle.Event) {
					if e.Kind == throttle.EventAdmitted {
						leave()
					}
				}
			})
			_, err := through(th, func(*http.Request) (*http.Response, error) {
				t.Error("sent")
				return nil, errors.New("sent")
			}).RoundTrip(req)
			if !errors.Is(err, context.Canceled) || body.closes.Load() != 1 {
				t.Errorf("error %v and %d closes, want context.Canceled and one", err, body.closes.Load())
			}
			wantUsed(t, th, 0, 0)
		})
	}
}

func TestPanicOfTheBaseGoesOnAndEndsTheCall(t *testing.T) {
	th := newThrottle(t)
	defer wantUsed(t, th, 1, 500)
	defer func() {
		if r := recover(); r != "base" {
			t.Errorf("recovered %v, want the base's panic", r)
		}
	}()
	through(th, func(*http.Request) (*http.Response, error) { panic("base") }).RoundTrip(post(t, "http://vendor.test"))
}

func TestPanicOfAJudgeClosesTheAnswer(t *testing.T) {
	th := newThrottle(t)
	d := dialect.New("own", dialect.OpenAI, dialect.Custom{
		Judge: func(*http.Response, []byte, throttle.Verdict) throttle.Verdict { panic("judge") },
	})
	body := &counted{Reader: strings.NewReader(usageBody)}
	base := stub(func(*http.Request) (*http.Response, error) { return reply(200, body), nil })
	defer wantUsed(t, th, 1, 500)
	defer func() {
		if r := recover(); r != "judge" || body.closes.Load() != 1 {
			t.Errorf("recovered %v with %d closes, want the judge's panic and one", r, body.closes.Load())
		}
	}()
	headgate.NewTransport(th, d, headgate.WithBase(base)).RoundTrip(post(t, "http://vendor.test"))
}

// dropped takes the request and cuts the connection instead of answering.
func dropped(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

// B109, B110: what may have been done already isn't asked for again, and costs
// what it was estimated at.
func TestB109B110PostIsSentOnceAndKeepsItsCharge(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		status  int
	}{
		"connection drops": {dropped, 0},
		"500":              {answer(500, "{}"), 500},
		"502":              {answer(502, "<html>bad gateway</html>"), 502},
		"504":              {answer(504, "{}"), 504},
	} {
		t.Run(name, func(t *testing.T) {
			v, th := newVendor(t, c.handler), newThrottle(t)
			resp, err := v.wrap(t, th).Do(post(t, v.URL))
			if (err != nil) != (c.status == 0) {
				t.Fatalf("error %v", err)
			}
			if err == nil {
				resp.Body.Close()
				if resp.StatusCode != c.status {
					t.Errorf("status %d, want %d", resp.StatusCode, c.status)
				}
			}
			if v.hits.Load() != 1 {
				t.Errorf("%d requests arrived, want exactly 1", v.hits.Load())
			}
			wantUsed(t, th, 1, 500)
		})
	}
}

// B108, B109: a busy vendor is asked once. What an SDK tries again meets the
// pause instead of the vendor.
func TestB108TransportAddsNoAttempts(t *testing.T) {
	for _, status := range []int{429, 503} {
		v := newVendor(t, answer(status, `{"error":{}}`, "Retry-After", "60"))
		client := v.wrap(t, newThrottle(t))
		if resp, _ := drain(t, client, post(t, v.URL)); resp.StatusCode != status {
			t.Errorf("status %d, want %d", resp.StatusCode, status)
		}
		for range 2 {
			if _, err := client.Do(post(t, v.URL)); !errors.Is(err, throttle.ErrPaused) {
				t.Errorf("%d: error %v, want ErrPaused", status, err)
			}
		}
		if v.hits.Load() != 1 {
			t.Errorf("%d: %d requests arrived, want 1", status, v.hits.Load())
		}
	}
}
