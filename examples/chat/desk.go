package main

import (
	"context"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

const (
	model     = "gpt-4o-mini"
	account   = "chat"
	maxOutput = 400 // tokens of one answer
)

// A place is a vendor, and the tokens that may be spent there.
type place struct {
	name, url, key string
	budget         int64
}

func openAI(key string) place {
	return place{name: "OpenAI", url: "https://api.openai.com/v1/", key: key, budget: 20_000}
}

// A desk asks questions through a throttle.
type desk struct {
	at       place
	throttle *throttle.Throttle
	client   openai.Client
	now      bill // of the call under way
}

func newDesk(at place) (*desk, error) {
	th, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{{
			Models: []string{model},
			Limits: []throttle.Limit{throttle.Tokens(at.budget, 24*time.Hour)},
		}},
	})
	if err != nil {
		return nil, err
	}
	d := &desk{at: at, throttle: th}
	// The account has a name so that charged can ask for it.
	gate := headgate.NewTransport(th, dialect.OpenAI, headgate.WithAccount(func(*http.Request) string { return account }))
	d.client = openai.NewClient(
		option.WithHTTPClient(&http.Client{Transport: watched{gate, d}}),
		option.WithMaxRetries(0), // a denial is final
		option.WithAPIKey(at.key),
		option.WithBaseURL(at.url),
	)
	return d, nil
}

func (d *desk) Close() error { return d.throttle.Close() }

// ask streams the answer to one question, and looks at the budget on the way.
func (d *desk) ask(ctx context.Context, question string) (bill, error) {
	d.now = bill{before: d.charged()}
	s := d.client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model:               model,
		Messages:            []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)},
		MaxCompletionTokens: openai.Int(maxOutput),
		// Without it a stream reports no usage, and the estimate stands.
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	})
	defer s.Close()
	var text strings.Builder
	for s.Next() {
		chunk := s.Current()
		if len(chunk.Choices) > 0 {
			text.WriteString(chunk.Choices[0].Delta.Content)
		}
		d.now.usage = max(d.now.usage, chunk.Usage.TotalTokens)
	}
	if err := s.Err(); err != nil {
		return d.now, fmt.Errorf("asking %q: %w", question, err)
	}
	d.now.answer = text.String()
	d.now.after = d.charged() - d.now.before
	d.now.left = d.at.budget - d.charged()
	return d.now, nil
}

// charged is what stands charged to the budget: all of it but what a call
// could still have.
func (d *desk) charged() int64 {
	call := throttle.Call{Key: throttle.FingerprintOf("reader"), Account: account, Model: model}
	// What calls gave back is booked with the next claim, so it makes one.
	if p, err := d.throttle.Acquire(context.Background(), call); err == nil {
		defer p.Cancel()
	}
	return d.at.budget - int64(sort.Search(int(d.at.budget), func(n int) bool {
		call.Cost = throttle.Cost{InputTokens: int64(n + 1)}
		return d.throttle.Check(context.Background(), call) != nil
	}))
}

// watched looks at a call on its way: what it is taken to cost, and what is
// charged when the vendor has begun to answer and nobody has read of that yet.
type watched struct {
	next http.RoundTripper
	desk *desk
}

func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	asked, err := dialect.Read(dialect.OpenAI, r)
	if err != nil {
		return nil, err
	}
	// What is guessed of it learns from what earlier calls really cost.
	call := throttle.Call{Key: throttle.FingerprintOf("reader"), Account: account, Model: model, Cost: asked.Cost}
	fitted := w.desk.throttle.Fit(r.Context(), call, asked.Guess)
	w.desk.now.estimate = fitted.InputTokens + fitted.OutputTokens
	resp, err := w.next.RoundTrip(r)
	w.desk.now.during = w.desk.charged() - w.desk.now.before
	return resp, err
}
