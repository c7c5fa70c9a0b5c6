package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// A desk has questions answered by the first model that has room.
type desk struct {
	openAI, anthropic       *http.Client
	openAIURL, anthropicURL string
}

// newDesk gives both vendors' clients one throttle: their models are budgets in it.
func newDesk(th *throttle.Throttle, openAIURL, anthropicURL string) *desk {
	backups := headgate.WithFallbacks(map[string][]string{model: {backup}})
	return &desk{
		openAI:       &http.Client{Transport: headgate.NewTransport(th, dialect.OpenAI, backups)},
		anthropic:    &http.Client{Transport: headgate.NewTransport(th, dialect.Anthropic)},
		openAIURL:    openAIURL,
		anthropicURL: anthropicURL,
	}
}

// ask returns the model that answered. If nobody has room, the error is the first
// vendor's denial.
func (d *desk) ask(ctx context.Context, question string) (string, error) {
	served, err := d.askOpenAI(ctx, question)
	if !isElsewhere(err) || ctx.Err() != nil {
		return served, err
	}
	served, denied := d.askAnthropic(ctx, question)
	if errors.Is(denied, throttle.ErrDenied) {
		return "", err
	}
	return served, denied
}

// isElsewhere reports whether another vendor may do better: he has other budgets,
// pauses and keys. A call that is too large is a mistake, and the store and the
// throttle are the same for both.
func isElsewhere(err error) bool {
	for _, reason := range []error{
		throttle.ErrBudget, throttle.ErrPaused, throttle.ErrQueueFull,
		throttle.ErrKeyRefused, throttle.ErrCreditExhausted, throttle.ErrModelDenied,
	} {
		if errors.Is(err, reason) {
			return true
		}
	}
	return false
}

func (d *desk) askOpenAI(ctx context.Context, question string) (string, error) {
	return send(ctx, d.openAI, d.openAIURL+"/v1/chat/completions", http.Header{
		"Authorization": {"Bearer sk-example"},
	}, map[string]any{"model": model, "max_completion_tokens": 100, "messages": ask(question)})
}

func (d *desk) askAnthropic(ctx context.Context, question string) (string, error) {
	return send(ctx, d.anthropic, d.anthropicURL+"/v1/messages", http.Header{
		"X-Api-Key": {"sk-ant-example"}, "Anthropic-Version": {"2023-06-01"},
	}, map[string]any{"model": other, "max_tokens": 100, "messages": ask(question)})
}

// ask puts the question as both vendors want it.
func ask(question string) []map[string]string {
	return []map[string]string{{"role": "user", "content": question}}
}

// send returns the model that the answer names.
func send(ctx context.Context, client *http.Client, url string, header http.Header, call map[string]any) (string, error) {
	text, err := json.Marshal(call)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(string(text)))
	if err != nil {
		return "", err
	}
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("the vendor says %s", resp.Status)
	}
	var answer struct{ Model string }
	err = json.NewDecoder(resp.Body).Decode(&answer)
	return answer.Model, err
}
