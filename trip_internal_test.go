package headgate

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// An attempt that is to be repeated holds nothing when the next one is admitted,
// and its answer can still be read.
func TestAnEndedAttemptHoldsNothing(t *testing.T) {
	var first *body
	decided := func(e throttle.Event) {
		if first == nil || e.Kind != throttle.EventDenied {
			return
		}
		first.mu.Lock()
		defer first.mu.Unlock()
		if !first.ended {
			t.Error("the first attempt's call hasn't ended when the next is decided")
		}
		first = nil
	}
	th, err := throttle.New(throttle.Config{
		Lanes:   []lanes.Lane{{Name: "live", Share: 1}},
		Observe: decided,
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer th.Close()
	tr := NewTransport(th, dialect.OpenAI, WithRetries(1), WithBase(roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 429, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("text"))}, nil
	})))
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://vendor.test/", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &trip{Transport: tr, req: req, arrived: time.Now()}
	o, err := w.attempt(nil)
	if err != nil {
		t.Fatal(err)
	}
	first = o.resp.Body.(*body)
	o = w.repeat(o) // whose retry is denied: the lane doesn't wait
	if text, err := io.ReadAll(o.resp.Body); string(text) != "text" || err != nil || first != nil {
		t.Errorf("the body yields %q, %v; asked: %v", text, err, first == nil)
	}
	_ = o.resp.Body.Close()
	(&outcome{}).end()
	(&outcome{resp: &http.Response{Body: http.NoBody}}).end()
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
