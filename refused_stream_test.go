package headgate_test

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// An error within an answer of 200 is obeyed like one with a status of its own,
// and the bytes pass as they are.
func TestARefusalInsideA200StreamPausesTheModel(t *testing.T) { // B76
	const stream = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":1}}}\n\n" +
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"
	var sent int
	base := stub(func(req *http.Request) (*http.Response, error) {
		sent++
		return &http.Response{
			StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
			Body: io.NopCloser(strings.NewReader(stream)), Request: req,
		}, nil
	})
	th, err := throttle.New(throttle.Config{Logger: slog.New(slog.DiscardHandler), Budgets: []throttle.Budget{{
		Models: []string{"claude-*"}, Limits: []throttle.Limit{throttle.Requests(100, time.Hour)},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer th.Close()
	client := &http.Client{Transport: headgate.NewTransport(th, dialect.Anthropic, headgate.WithBase(base))}
	post := func() (*http.Response, error) {
		return client.Post("https://vendor.example/v1/messages", "application/json", strings.NewReader(`{"model":"claude-x","max_tokens":5}`))
	}
	resp, err := post()
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || string(got) != stream {
		t.Errorf("the caller got %q, %v", got, err)
	}
	var denied *throttle.DeniedError
	if _, err = post(); !errors.As(err, &denied) || !errors.Is(err, throttle.ErrPaused) || denied.Verdict.Class != throttle.Overloaded {
		t.Errorf("after the refusal: %v", err)
	}
	if sent != 1 {
		t.Errorf("%d requests reached the vendor", sent)
	}
}

// The answer to a probe opens the key for everybody, so one whose body refuses
// the key after a status of 200 must not.
func TestAProbeThatIsRefusedInItsBodyOpensNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const refused = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"invalid x-api-key\"}}\n\n"
		const fine = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
		text := refused
		base := stub(func(req *http.Request) (*http.Response, error) {
			return &http.Response{
				StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
				Body: io.NopCloser(strings.NewReader(text)), Request: req,
			}, nil
		})
		th := newThrottle(t)
		defer th.Close()
		client := &http.Client{Transport: headgate.NewTransport(th, dialect.Anthropic, headgate.WithBase(base))}
		send := func() error {
			resp, err := client.Post("https://vendor.example/v1/messages", "application/json", strings.NewReader(`{"model":"claude-x","max_tokens":5}`))
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			_, err = io.Copy(io.Discard, resp.Body)
			return err
		}
		for range 3 { // the first refusal, and two probes
			if err := send(); err != nil {
				t.Fatal(err)
			}
			if err := send(); !errors.Is(err, throttle.ErrKeyRefused) {
				t.Fatalf("after a refusal in the body: %v", err)
			}
			time.Sleep(5 * time.Minute)
		}
		text = fine
		for range 2 { // a probe that is answered well, and an ordinary call
			if err := send(); err != nil {
				t.Error(err)
			}
		}
	})
}
