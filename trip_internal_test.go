package headgate

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// An attempt that is to be repeated holds nothing while the next one waits, and
// its answer can still be read.
func TestAnEndedAttemptHoldsNothing(t *testing.T) {
	th, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{{Models: []string{"m"}, Limits: []throttle.Limit{throttle.Requests(1, time.Hour)}}},
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer th.Close()
	call := throttle.Call{Key: throttle.FingerprintOf("k"), Model: "m"}
	p, err := th.Acquire(context.Background(), call)
	if err != nil {
		t.Fatal(err)
	}
	b := &body{inner: io.NopCloser(strings.NewReader("text")), fare: fare{permit: p}}
	o := &outcome{resp: &http.Response{Body: b.within(t.Context())}}
	o.end()
	p.Cancel() // too late to give anything back
	if th.Check(context.Background(), call) == nil {
		t.Error("the attempt's permit hadn't ended")
	}
	if text, err := io.ReadAll(o.resp.Body); string(text) != "text" || err != nil {
		t.Errorf("the body yields %q, %v", text, err)
	}
	(&outcome{}).end()
	(&outcome{resp: &http.Response{Body: http.NoBody}}).end()
}
