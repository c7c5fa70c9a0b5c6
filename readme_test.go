package headgate_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/throttle"
	"github.com/redis/go-redis/v9"
)

// The README's snippets stand here between the functions' braces, so that they
// compile. They aren't run: they talk to real vendors.

var _ = []any{readmeClient, readmeSMS, readmeLanes, readmeLeases, readmeTenants, readmeStatus, readmeDenied}

func readmeClient(rdb redis.UniversalClient) *http.Client {
	store, err := throttle.NewRedisStore(rdb, throttle.RedisOptions{})
	if err != nil {
		log.Fatal(err)
	}
	th, err := throttle.New(throttle.Config{
		Store: store,
		Budgets: []throttle.Budget{{
			Models: []string{"gpt-4o*"},
			Limits: dialect.OpenAILimits(600, 150_000), // requests and tokens a minute
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{Transport: headgate.NewTransport(th, dialect.OpenAI)}
	// openai.NewClient(option.WithHTTPClient(client), option.WithMaxRetries(0))
	return client
}

func readmeSMS(store throttle.Store) *http.Client {
	th, err := throttle.New(throttle.Config{
		Store: store,
		Account: []throttle.Limit{
			throttle.Requests(20, time.Second).Using(throttle.TokenBucket).WithBurst(5),
			throttle.InFlight(10), // at once
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	sms := &http.Client{Transport: headgate.NewTransport(th, dialect.Twilio)}
	return sms
}

func readmeLeases(store throttle.Store, budgets []throttle.Budget) *throttle.Throttle {
	th, err := throttle.New(throttle.Config{Store: store, Budgets: budgets, Lease: leasing.Auto()})
	if err != nil {
		log.Fatal(err)
	}
	return th
}

func readmeLanes(ctx context.Context, client *http.Client, req *http.Request) (*http.Response, error) {
	ctx = lanes.With(ctx, lanes.Background)
	resp, err := client.Do(req.WithContext(ctx))
	return resp, err
}

func readmeTenants(ctx context.Context, budget throttle.Budget, weights map[string]int) (throttle.Budget, context.Context) {
	budget.Tenants = throttle.TenantPolicy{Share: 0.25, Weight: func(id string) int { return weights[id] }}
	ctx = throttle.WithTenant(ctx, "customer-17")
	return budget, ctx
}

func readmeStatus(mux *http.ServeMux, th *throttle.Throttle) {
	mux.Handle("/debug/headgate/", headgate.StatusHandler(th))
}

func readmeDenied(err error) time.Duration {
	var denied *throttle.DeniedError
	if errors.As(err, &denied) {
		fmt.Println(denied.Reason, "come back in", denied.RetryAfter)
		return denied.RetryAfter
	}
	return 0
}

func TestEverySnippetOfTheReadmeIsCompiled(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	blocks := strings.Split(string(readme), "```go\n")[1:]
	if len(blocks) < 4 {
		t.Errorf("the README has %d snippets", len(blocks))
	}
	for _, b := range blocks {
		snippet, _, _ := strings.Cut(b, "```")
		if !strings.Contains(flat(string(source)), flat(snippet)) {
			t.Errorf("not compiled:\n%s", snippet)
		}
	}
}
