package headgateotel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// roundTrip is a base that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// send sends a request within a span, and returns the span as it ended.
func send(t *testing.T, rt http.RoundTripper, c throttle.Call) (sdktrace.ReadOnlySpan, error) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	ctx, span := provider.Tracer("test").Start(t.Context(), "call")
	req, err := http.NewRequestWithContext(headgate.WithCall(ctx, c), "POST", "http://vendor.test/v1/chat/completions",
		strings.NewReader(`{"model":"m1","messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	resp, err := rt.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
		if resp.Request != req {
			t.Error("the response's request isn't the caller's")
		}
	}
	span.End()
	return recorder.Ended()[0], err
}

func attributesOf(list []attribute.KeyValue) string {
	set := attribute.NewSet(list...)
	return set.Encoded(attribute.DefaultEncoder())
}

func TestSpansShowWaitsDenialsAndPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := newMetrics(t)
		status := 200
		rt := NewTransport(headgate.NewTransport(newThrottle(t, m), dialect.OpenAI, headgate.WithBase(
			roundTrip(func(r *http.Request) (*http.Response, error) {
				resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}
				if status == 429 {
					resp.Header.Set("Retry-After", "7")
				}
				return resp, nil
			}))))
		nextWindow()
		live := throttle.Call{Account: "acme"}
		for range 3 {
			span, err := send(t, rt, live)
			if err != nil {
				t.Fatal(err)
			}
			if got := attributesOf(span.Attributes()); got != "headgate.wait=0" || len(span.Events()) != 0 {
				t.Errorf("a call that went at once has %s and %v", got, span.Events())
			}
		}
		span, err := send(t, rt, throttle.Call{Account: "acme", Lane: lanes.Background})
		if !errors.Is(err, throttle.ErrBudget) || len(span.Events()) != 1 {
			t.Fatalf("got %v and %v", err, span.Events())
		}
		denied := span.Events()[0]
		got := attributesOf(denied.Attributes)
		for _, want := range []string{"headgate.reason=budget", "headgate.budget=chat", "headgate.lane=background", "headgate.retry_after="} {
			if denied.Name != "headgate.denied" || !strings.Contains(got, want) {
				t.Errorf("event %s %s, want %s", denied.Name, got, want)
			}
		}
		status = 429
		span, err = send(t, rt, live)
		if err != nil || len(span.Events()) != 1 {
			t.Fatalf("got %v and %v", err, span.Events())
		}
		if wait := span.Attributes()[0].Value.AsFloat64(); wait < 50 || wait > 70 {
			t.Errorf("waited %g s, want the rest of a minute", wait)
		}
		paused := span.Events()[0]
		if got := attributesOf(paused.Attributes); paused.Name != "headgate.paused" ||
			!strings.Contains(got, "headgate.class=busy") || !strings.Contains(got, "headgate.vendor_wait=7") {
			t.Errorf("event %s %s", paused.Name, got)
		}
		if text := fmt.Sprint(span.Attributes(), span.Events()); strings.Contains(text, secret) {
			t.Errorf("the span has the key: %s", text)
		}
	})
}

// Without a span there is nothing to write to, and the request goes as it is.
func TestWithoutASpanTheRequestIsTheCallers(t *testing.T) {
	req, err := http.NewRequestWithContext(context.Background(), "GET", "http://vendor.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	_, err = NewTransport(roundTrip(func(r *http.Request) (*http.Response, error) {
		if r != req {
			t.Error("got another request")
		}
		return nil, broken
	})).RoundTrip(req)
	if err != broken {
		t.Errorf("got %v", err)
	}
}
