package headgate_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// BenchmarkTransport shows what the Transport adds to a request, over a base
// that answers from memory: bare is that base alone.
func BenchmarkTransport(b *testing.B) {
	long := strings.Repeat("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n", 1000) + lastEvents
	for _, shape := range []struct{ name, method, kind, text string }{
		{"GET", "GET", "application/json", "{}"},
		{"JSON", "POST", "application/json", usageBody},
		{"stream", "POST", "text/event-stream", long},
	} {
		base := stub(func(*http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: 200,
				Header:     http.Header{"Content-Type": {shape.kind}},
				Body:       io.NopCloser(strings.NewReader(shape.text)),
			}, nil
		})
		b.Run(shape.name+"/bare", func(b *testing.B) { benchRoundTrip(b, base, shape.method) })
		b.Run(shape.name+"/wrapped", func(b *testing.B) {
			th, err := throttle.New(throttle.Config{Budgets: []throttle.Budget{{
				Models: []string{"*"},
				Limits: []throttle.Limit{throttle.Requests(throttle.MaxAmount, day), throttle.Tokens(throttle.MaxAmount, day)},
			}}})
			if err != nil {
				b.Fatal(err)
			}
			defer th.Close()
			benchRoundTrip(b, headgate.NewTransport(th, dialect.OpenAI, headgate.WithBase(base)), shape.method)
		})
	}
}

func benchRoundTrip(b *testing.B, rt http.RoundTripper, method string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	buf := make([]byte, 4096)
	text := `{"model":"m","max_tokens":400,"messages":[{"role":"user","content":"hello"}]}`
	b.ReportAllocs()
	for b.Loop() {
		var body io.Reader
		if method == "POST" {
			body = strings.NewReader(text)
		}
		req, err := http.NewRequestWithContext(ctx, method, "http://vendor.test/v1/chat/completions", body)
		if err != nil {
			b.Fatal(err)
		}
		req.Header["Content-Type"] = []string{"application/json"}
		req.Header["Authorization"] = []string{"Bearer k"}
		resp, err := rt.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := resp.Body.Read(buf); err != nil {
				break
			}
		}
		resp.Body.Close()
	}
}
