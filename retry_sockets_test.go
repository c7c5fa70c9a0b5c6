package headgate_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// Over real sockets: connections and goroutines are as before, whatever the
// discarded answers' bodies were, and the caller's request is untouched.
func TestRetriesLeaveNothingBehind(t *testing.T) {
	for name, filler := range map[string]int{"short body": 0, "long body": 1 << 20} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			conns := make(chan int, 1)
			conns <- 0
			v := unstartedVendor(func(w http.ResponseWriter, r *http.Request) {
				text, _ := io.ReadAll(r.Body)
				if r.Header.Get("X-Tries") == "" && !strings.Contains(string(text), `"model":"m"`) {
					t.Errorf("body %s", text)
				}
				w.Header().Set("Retry-After-Ms", "1")
				w.WriteHeader(429)
				io.WriteString(w, busyBody+strings.Repeat(" ", filler))
			})
			v.Config.ConnState = func(_ net.Conn, s http.ConnState) {
				if s == http.StateNew {
					conns <- <-conns + 1
				}
			}
			v.Start()
			defer v.Close()
			client := v.wrap(t, newThrottle(t, patient(-1), func(c *throttle.Config) { c.Pause.Ramp = -1 }), headgate.WithRetries(4))
			req := post(t, v.URL)
			header, url, body := req.Header.Clone(), *req.URL, req.Body
			resp, text := drain(t, client, req)
			if resp.StatusCode != 429 || len(text) != len(busyBody)+filler || v.hits.Load() != 5 {
				t.Errorf("status %d, %d bytes, %d requests", resp.StatusCode, len(text), v.hits.Load())
			}
			if req.Body != body || *req.URL != url || len(req.Header) != len(header) {
				t.Error("the caller's request was changed")
			}
			if n := <-conns; filler == 0 && n != 1 || n > 5 {
				t.Errorf("%d connections", n)
			}
			client.CloseIdleConnections()
		})
	}
}

// B109 over real sockets: a vendor that takes the message and drops the
// connection gets it once; a port that nobody listens on is tried again.
func TestB109AMessageIsSentOnce(t *testing.T) {
	v := newVendor(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	})
	req := httptest.NewRequest("POST", v.URL+"/2010-04-01/Accounts/AC1/Messages.json", strings.NewReader("To=1&Body=x"))
	req.RequestURI = ""
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("To=1&Body=x")), nil }
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	tr := headgate.NewTransport(newThrottle(t), dialect.Twilio, headgate.WithRetries(3))
	if resp, err := tr.RoundTrip(req); err == nil || v.hits.Load() != 1 {
		t.Errorf("%v, %v after %d requests, want an error after one", resp, err, v.hits.Load())
	}
	dials := 0
	base := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		if dials++; dials == 1 {
			return nil, errors.New("no route")
		}
		return (&net.Dialer{}).DialContext(ctx, network, strings.TrimPrefix(v.URL, "http://"))
	}}
	defer base.CloseIdleConnections()
	th := newThrottle(t)
	if _, err := through(th, base.RoundTrip, headgate.WithRetries(3)).RoundTrip(post(t, "http://vendor.test")); err == nil || dials != 2 || v.hits.Load() != 2 {
		t.Errorf("%v, %d dials, %d requests in all, want an error after two dials and one request more", err, dials, v.hits.Load())
	}
	wantUsed(t, th, 1, 500)
}
