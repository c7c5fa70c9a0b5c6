package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/throttle"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

const secret = "sk-never-to-be-seen"

// A stubVendor answers every request, and keeps the headers that it got.
type stubVendor struct {
	*httptest.Server
	mu   sync.Mutex
	seen []*http.Request
}

func startVendor(t *testing.T) *stubVendor {
	noLeaks(t)
	v := &stubVendor{}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		v.seen = append(v.seen, r)
		v.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13}}`)
	}))
	t.Cleanup(v.Close)
	return v
}

func (v *stubVendor) requests() []*http.Request {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.seen
}

// startGateway returns the address of a gateway to the vendor at to.
func startGateway(t *testing.T, to string, b budget) (string, *throttle.Throttle) {
	t.Helper()
	b.Models = []string{"*"}
	th, err := throttle.New(throttle.Config{Budgets: []throttle.Budget{b.limited()}})
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(newGateway(th, dialect.OpenAI, base))
	t.Cleanup(func() { server.Close(); th.Close() })
	return server.URL, th
}

// An answered is what a program in any language gets.
type answered struct {
	status int
	header http.Header
	body   string
}

// ask sends one call as a program of its own, whose headers come in pairs.
func ask(t *testing.T, gateway string, headers ...string) answered {
	t.Helper()
	program := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	body := strings.NewReader(`{"model":"gpt-4o","max_tokens":10,"messages":[]}`)
	req, err := http.NewRequest("POST", gateway+"/chat/completions", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := program.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{resp.StatusCode, resp.Header, string(text)}
}

// noLeaks fails the test if more goroutines run at its end than now. It is to be
// called before anything is started.
func noLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; {
			if time.Now().After(deadline) {
				stacks := make([]byte, 1<<20)
				t.Fatalf("%d goroutines, had %d:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
}
