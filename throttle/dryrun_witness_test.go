package throttle_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

type witness struct {
	mu     sync.Mutex
	events []throttle.Event
	log    bytes.Buffer
}

func (w *witness) watch(c throttle.Config) throttle.Config {
	c.Observe = func(e throttle.Event) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if e.Kind <= throttle.EventProbe {
			w.events = append(w.events, e)
		}
	}
	c.Logger = slog.New(slog.NewTextHandler(w, nil))
	return c
}

func (w *witness) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.Contains(string(line), "dry run") {
		w.log.Write(line)
	}
	return len(line), nil
}

func (w *witness) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Split(strings.TrimSuffix(w.log.String(), "\n"), "\n")
}

func (w *witness) last(t *testing.T) throttle.Event {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.events) == 0 {
		t.Fatal("nothing was observed")
	}
	return w.events[len(w.events)-1]
}

func statusOf(t *testing.T, th *throttle.Throttle) throttle.BudgetStatus {
	t.Helper()
	s, err := th.Status(context.Background())
	if err != nil || len(s.Budgets) != 1 {
		t.Fatalf("Status: %+v, %v", s, err)
	}
	return s.Budgets[0]
}

func enforcing(t *testing.T, th *throttle.Throttle, c throttle.Call, most int) int {
	t.Helper()
	for n := range most {
		if _, err := tryNow(t, th, c); err != nil {
			return n
		}
	}
	return most
}

func poll(t *testing.T, is func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); ; <-tick.C {
		if is() {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it didn't come to be")
		}
	}
}
