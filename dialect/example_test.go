package dialect_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// A vendor that this package doesn't know: its key is in a header of its own,
// its models are methods, and it hides its limit in an answer of 200.
func ExampleNew() {
	acme := dialect.New("acme", dialect.Generic, dialect.Custom{
		Key:   func(r *http.Request) string { return r.Header.Get("X-Acme-Token") },
		Model: func(r *http.Request) string { return r.URL.Path },
		Judge: func(resp *http.Response, body []byte, v throttle.Verdict) throttle.Verdict {
			if strings.Contains(string(body), `"error":"slow_down"`) {
				v.Class, v.Scope = throttle.Busy, throttle.ScopeModel
			}
			return v
		},
	})

	r, _ := http.NewRequest(http.MethodPost, "https://api.acme.example/translate", strings.NewReader(`{}`))
	r.Header.Set("X-Acme-Token", "t-1")
	asked, err := dialect.Read(acme, r)
	fmt.Println(asked.Model, asked.Cost.Requests, err)
	// Output: /translate 1 <nil>
}

// A vendor whose answers show what is left of an hour's credits.
func ExampleNew_reports() {
	acme := dialect.New("acme", dialect.Generic, dialect.Custom{
		Reports: func(resp *http.Response) []throttle.Report {
			left, err := strconv.ParseInt(resp.Header.Get("X-Acme-Credits-Left"), 10, 64)
			if err != nil {
				return nil
			}
			return []throttle.Report{{Unit: throttle.UnitPoints, Per: time.Hour, Limit: throttle.Unsaid, Remaining: left}}
		},
	})

	resp := &http.Response{Header: http.Header{"X-Acme-Credits-Left": {"250"}, "X-Ratelimit-Limit-Minute": {"60"}}}
	for _, r := range dialect.Reports(acme, resp) {
		fmt.Println(r.Unit, "per", r.Per, "limit", r.Limit, "left", r.Remaining)
	}
	// Output:
	// requests per 1m0s limit 60 left -1
	// points per 1h0m0s limit -1 left 250
}

func ExampleJudge() {
	resp := &http.Response{
		StatusCode: http.StatusTooManyRequests,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(
			`{"error":{"message":"Rate limit reached. Please try again in 644ms.","type":"tokens","code":"rate_limit_exceeded"}}`)),
	}
	v := dialect.Judge(dialect.OpenAI, resp)
	fmt.Println(v.Class, v.Scope, v.Wait, v.Detail)

	body, _ := io.ReadAll(resp.Body) // still there
	fmt.Println(len(body))
	// Output:
	// busy model 644ms 429 tokens rate_limit_exceeded
	// 115
}

func ExampleAnthropicLimits() {
	for _, l := range dialect.AnthropicLimits(600, 60_000, 12_000) {
		fmt.Println(l, "in bursts of", l.Burst)
	}
	// Output:
	// 600 requests per 1m0s in bursts of 10
	// 60000 input tokens per 1m0s in bursts of 59400
	// 12000 output tokens per 1m0s in bursts of 11880
}
