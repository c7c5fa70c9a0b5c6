package headgate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// exampleVendor stands for api.openai.com.
func exampleVendor() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`)
	}))
}

// ask stands for an SDK that was given the client.
func ask(ctx context.Context, client *http.Client, url string) error {
	body := strings.NewReader(`{"model":"gpt-4o-mini","max_tokens":100,"messages":[{"role":"user","content":"Hi"}]}`)
	req, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/chat/completions", body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer sk-…")
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// Wrap the client once and give it to the vendor's SDK.
func Example() {
	th, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{{
			Models: []string{"gpt-4o*"},
			Limits: []throttle.Limit{throttle.Requests(600, time.Minute), throttle.Tokens(150_000, time.Minute)},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer th.Close()
	client := &http.Client{Transport: headgate.NewTransport(th, dialect.OpenAI)}

	vendor := exampleVendor()
	defer vendor.Close()
	fmt.Println(ask(context.Background(), client, vendor.URL))
	// Output: <nil>
}

// A call that isn't let through says why, and when to come back.
func ExampleNewTransport_denied() {
	th, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{{
			Models: []string{"gpt-4o*"},
			Limits: []throttle.Limit{throttle.Requests(1, time.Hour)},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer th.Close()
	client := &http.Client{Transport: headgate.NewTransport(th, dialect.OpenAI)}

	vendor := exampleVendor()
	defer vendor.Close()
	background := lanes.With(context.Background(), lanes.Background)
	for range 2 {
		err := ask(background, client, vendor.URL)
		var denied *throttle.DeniedError
		switch {
		case errors.As(err, &denied):
			fmt.Println(denied.Lane, "denied:", errors.Is(err, throttle.ErrBudget), denied.RetryAfter > 0)
		default:
			fmt.Println(err)
		}
	}
	// Output:
	// <nil>
	// background denied: true true
}

// What the caller knows better than the request shows goes along in the context.
func ExampleWithCall() {
	th, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{{
			Models: []string{"house-model"},
			Limits: []throttle.Limit{throttle.Tokens(1000, time.Hour)},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer th.Close()
	client := &http.Client{Transport: headgate.NewTransport(th, dialect.OpenAI)}

	vendor := exampleVendor()
	defer vendor.Close()
	ctx := headgate.WithCall(context.Background(), throttle.Call{
		Model: "house-model",
		Cost:  throttle.Cost{InputTokens: 5000},
	})
	fmt.Println(errors.Is(ask(ctx, client, vendor.URL), throttle.ErrTooLarge))
	// Output: true
}

// SDKs that retry errors but obey a response get one.
func ExampleWithDeniedResponses() {
	th, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{{
			Models: []string{"*"},
			Limits: []throttle.Limit{throttle.Requests(600, time.Minute)},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := &http.Client{Transport: headgate.NewTransport(th, dialect.OpenAI, headgate.WithDeniedResponses())}
	th.Close() // denies everything

	resp, err := client.Get("https://api.openai.com/v1/models")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	denied, ok := headgate.DeniedFrom(resp)
	fmt.Println(resp.StatusCode, ok, errors.Is(denied, throttle.ErrClosed))
	// Output: 429 true true
}

// A request that the vendor turns away for a moment is sent again, as its lane may
// wait.
func ExampleWithRetries() {
	th, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{{
			Models: []string{"gpt-4o*"},
			Limits: []throttle.Limit{throttle.Requests(600, time.Minute)},
		}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer th.Close()
	client := &http.Client{Transport: headgate.NewTransport(th, dialect.OpenAI, headgate.WithRetries(2))}

	requests := 0
	vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests == 1 {
			w.Header().Set("Retry-After-Ms", "10")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer vendor.Close()
	fmt.Println(ask(context.Background(), client, vendor.URL), requests)
	// Output: <nil> 2
}

// A call for a model without room goes to a backup.
func ExampleWithFallbacks() {
	th, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{
			{Models: []string{"gpt-4o"}, Limits: []throttle.Limit{throttle.Requests(1, time.Hour)}},
			{Models: []string{"gpt-4o-mini"}, Limits: []throttle.Limit{throttle.Requests(600, time.Minute)}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer th.Close()
	vendor := exampleVendor()
	defer vendor.Close()
	client := &http.Client{Transport: headgate.NewTransport(th, dialect.OpenAI,
		headgate.WithFallbacks(map[string][]string{"gpt-4o": {"gpt-4o-mini"}}))}

	for range 2 {
		resp, err := client.Post(vendor.URL+"/v1/chat/completions", "application/json",
			strings.NewReader(`{"model":"gpt-4o","max_tokens":100,"messages":[]}`))
		if err != nil {
			fmt.Println(err)
			return
		}
		model, isBackup := headgate.FallbackFrom(resp)
		fmt.Printf("%q %v\n", model, isBackup)
		resp.Body.Close()
	}
	// Output:
	// "" false
	// "gpt-4o-mini" true
}
