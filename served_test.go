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

// Over a real socket the header has the right length, and http.Client changes
// nothing about the mark.
func TestFallbackOverTheWire(t *testing.T) {
	noLeaks(t)
	v := newVendor(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if r.ContentLength != int64(len(text)) || len(r.TransferEncoding) > 0 {
			t.Errorf("length %d of %s, %v", r.ContentLength, text, r.TransferEncoding)
		}
		w.Header().Set("X-Headgate-Model", "forged")
		w.Write(text)
	})
	client := v.wrap(t, newThrottle(t, oneEach), twoBackups)
	client.Timeout = time.Minute
	for _, want := range []string{"", "n", "third"} {
		resp, text := drain(t, client, post(t, v.URL))
		served, ok := headgate.FallbackFrom(resp)
		if served != want || ok != (want != "") || !strings.Contains(text, `"model":"`+orElse(want, model)+`"`) {
			t.Errorf("served by %q, %v, sent %s, want %q", served, ok, text, want)
		}
	}
	client.CloseIdleConnections()
}

// Nobody is believed but the Transport itself.
func TestFallbackFromBelievesNobody(t *testing.T) {
	tr := through(newThrottle(t, oneEach), func(*http.Request) (*http.Response, error) {
		resp := reply(200, http.NoBody)
		resp.Header.Set("X-Headgate-Model", "forged")
		return resp, nil
	}, twoBackups)
	spend(t, tr)
	resp, err := tr.RoundTrip(post(t, "http://vendor.test"))
	if err != nil {
		t.Fatal(err)
	}
	heir := &http.Response{Request: resp.Request.Clone(resp.Request.Context())}
	first, err := through(newThrottle(t), ok).RoundTrip(post(t, "http://vendor.test"))
	if err != nil {
		t.Fatal(err)
	}
	first.Header.Set("X-Headgate-Model", "n")
	for i, r := range []*http.Response{heir, first, {}, nil} {
		if served, ok := headgate.FallbackFrom(r); ok || served != "" {
			t.Errorf("response %d: served by %q", i, served)
		}
	}
}

// A caller that leaves while a backup waits wants its own error.
func TestTheRequestsEndEndsTheFallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, oneEach, func(c *throttle.Config) {
			c.Lanes[0].Wait = time.Hour
			c.Budgets[1].Limits = []throttle.Limit{throttle.Requests(1, 30*time.Minute).Using(throttle.TokenBucket)}
		})
		tr := through(th, ok, twoBackups, headgate.WithDeniedResponses())
		for range 2 {
			spend(t, tr)
		}
		ctx, cancel := context.WithCancel(as(context.Background()))
		start := time.Now()
		time.AfterFunc(time.Second, cancel)
		resp, err := tr.RoundTrip(post(t, "http://vendor.test").WithContext(ctx))
		if resp != nil || !errors.Is(err, context.Canceled) || time.Since(start) != time.Second {
			t.Errorf("got %v, %v after %v, want context.Canceled after 1 s", resp, err, time.Since(start))
		}
	})
}

func TestDeniedResponseIsThatOfTheFirstModel(t *testing.T) {
	tr := through(newThrottle(t, oneEach), ok, twoBackups, headgate.WithDeniedResponses())
	for range 3 {
		spend(t, tr)
	}
	resp, err := tr.RoundTrip(post(t, "http://vendor.test"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if d, ok := headgate.DeniedFrom(resp); !ok || d.Model != model {
		t.Errorf("DeniedFrom: %v, %v", d, ok)
	}
	if served, ok := headgate.FallbackFrom(resp); ok {
		t.Errorf("served by %q", served)
	}
}
