package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// Two programs with one key share a budget, and the one that comes too late is
// told when to come back, in words that hold no key.
func TestTwoProgramsShareABudget(t *testing.T) {
	vendor := startVendor(t)
	gateway, _ := startGateway(t, vendor.URL+"/v1", budget{RPM: 2})
	for range 2 { // each is a client of its own
		if a := ask(t, gateway); a.status != http.StatusOK || !strings.Contains(a.body, `"total_tokens":13`) {
			t.Fatalf("got %d %s", a.status, a.body)
		}
	}
	a := ask(t, gateway)
	wait, err := strconv.Atoi(a.header.Get("Retry-After"))
	if a.status != http.StatusTooManyRequests || err != nil || wait < 1 || wait > 120 {
		t.Errorf("got %d with Retry-After %q", a.status, a.header.Get("Retry-After"))
	}
	var body struct {
		Error struct{ Type, Message string }
	}
	if err := json.Unmarshal([]byte(a.body), &body); err != nil {
		t.Fatal(err)
	}
	if body.Error.Type != "rate_limit_error" || !strings.Contains(body.Error.Message, throttle.ErrBudget.Error()) {
		t.Errorf("got %+v", body)
	}
	if strings.Contains(a.body, secret) {
		t.Errorf("the key is in %s", a.body)
	}
	if n := len(vendor.requests()); n != 2 {
		t.Errorf("the vendor got %d requests, want 2", n)
	}
}

// The vendor sees the call as it was made, and neither lane nor tenant.
func TestTheVendorSeesTheCall(t *testing.T) {
	vendor := startVendor(t)
	gateway, _ := startGateway(t, vendor.URL+"/v1", budget{})
	ask(t, gateway, laneHeader, "background", tenantHeader, "customer-17", "X-Own", "kept")
	r := vendor.requests()[0]
	if r.URL.Path != "/v1/chat/completions" || "http://"+r.Host != vendor.URL {
		t.Errorf("got %s of %s", r.URL.Path, r.Host)
	}
	if r.Header.Get("Authorization") != "Bearer "+secret || r.Header.Get("X-Own") != "kept" {
		t.Errorf("got %v", r.Header)
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Headgate-") || strings.HasPrefix(name, "X-Forwarded-") || name == "Accept-Encoding" && r.Header.Get(name) != "gzip" {
			t.Errorf("the vendor got %s: %v", name, r.Header[name])
		}
	}
}

func TestBackgroundLeavesRoomForLive(t *testing.T) {
	vendor := startVendor(t)
	gateway, _ := startGateway(t, vendor.URL, budget{RPM: 10})
	for i := range 7 {
		want := http.StatusOK
		if i == 6 {
			want = http.StatusTooManyRequests
		}
		if a := ask(t, gateway, laneHeader, "background"); a.status != want {
			t.Fatalf("background call %d: %d, want %d", i, a.status, want)
		}
	}
	if a := ask(t, gateway, laneHeader, "live"); a.status != http.StatusOK {
		t.Errorf("live, by name: %d %s", a.status, a.body)
	}
	if a := ask(t, gateway); a.status != http.StatusOK {
		t.Errorf("live, unsaid: %d %s", a.status, a.body)
	}
	if a := ask(t, gateway, laneHeader, "express"); a.status != http.StatusBadRequest || !strings.Contains(a.body, "express") {
		t.Errorf("an unknown lane: %d %s", a.status, a.body)
	}
	if n := len(vendor.requests()); n != 8 {
		t.Errorf("the vendor got %d requests, want 8", n)
	}
}

func TestATenantHasItsShare(t *testing.T) {
	vendor := startVendor(t)
	gateway, _ := startGateway(t, vendor.URL, budget{RPM: 4, TenantShare: 0.5})
	for i, c := range []struct {
		tenant string
		want   int
	}{{"a", 200}, {"a", 200}, {"a", 429}, {"b", 200}, {"b", 200}, {"b", 429}} {
		if a := ask(t, gateway, tenantHeader, c.tenant); a.status != c.want {
			t.Errorf("call %d, of %s: %d, want %d", i, c.tenant, a.status, c.want)
		}
	}
}

// Every part of an answer arrives before the vendor has sent the next, whether the
// vendor says how long it will be or not.
func TestAnswersStream(t *testing.T) {
	parts := []string{"data: {\"choices\":[]}\n\n", "data: [DONE]\n\n"}
	for name, length := range map[string]string{"unknown length": "", "known length": strconv.Itoa(len(parts[0] + parts[1]))} {
		t.Run(name, func(t *testing.T) {
			noLeaks(t)
			arrived := make(chan struct{})
			vendor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				if length != "" {
					w.Header().Set("Content-Length", length)
				}
				for _, part := range parts {
					io.WriteString(w, part)
					w.(http.Flusher).Flush()
					select {
					case <-arrived:
					case <-r.Context().Done():
						return
					}
				}
			}))
			t.Cleanup(vendor.Close)
			gateway, _ := startGateway(t, vendor.URL, budget{})
			program := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
			resp, err := program.Post(gateway, "application/json", strings.NewReader(`{"model":"gpt-4o"}`))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			for _, part := range parts {
				got := make([]byte, len(part))
				if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != part {
					t.Fatalf("got %q, %v, want %q", got, err, part)
				}
				arrived <- struct{}{}
			}
		})
	}
}

func TestWhatIsTooLargeOrComesTooLate(t *testing.T) {
	vendor := startVendor(t)
	gateway, _ := startGateway(t, vendor.URL, budget{TPM: 5}) // the call may have 10 of output
	if a := ask(t, gateway); a.status != http.StatusRequestEntityTooLarge || a.header.Get("Retry-After") != "" {
		t.Errorf("too large: %d, %v", a.status, a.header)
	}
	gateway, th := startGateway(t, vendor.URL, budget{})
	th.Close()
	if a := ask(t, gateway); a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, throttle.ErrClosed.Error()) {
		t.Errorf("closed: %d %s", a.status, a.body)
	}
}

func TestAVendorThatIsAway(t *testing.T) {
	vendor := startVendor(t)
	gateway, _ := startGateway(t, vendor.URL, budget{})
	vendor.Close()
	if a := ask(t, gateway); a.status != http.StatusBadGateway || strings.Contains(a.body, "127.0.0.1") {
		t.Errorf("got %d %s", a.status, a.body)
	}
}

func TestWhatADenialIsAnswered(t *testing.T) {
	for _, c := range []struct {
		reason error
		after  time.Duration
		status int
		want   string // Retry-After
	}{
		{throttle.ErrBudget, time.Nanosecond, 429, "1"},
		{throttle.ErrBudget, time.Second, 429, "1"},
		{throttle.ErrPaused, time.Second + 1, 429, "2"},
		{throttle.ErrPaused, 0, 429, ""},
		{throttle.ErrQueueFull, 90 * time.Second, 429, "90"},
		{throttle.ErrKeyRefused, 1<<63 - 1, 429, "9223372037"},
		{throttle.ErrTooLarge, 0, 413, ""},
		{throttle.ErrStore, 1500 * time.Millisecond, 503, "2"},
		{throttle.ErrClosed, 0, 503, ""},
	} {
		w := httptest.NewRecorder()
		err := errors.Join(&throttle.DeniedError{Reason: c.reason, Model: "m", RetryAfter: c.after}) // wrapped
		refuse(w, httptest.NewRequest("POST", "/", nil), err)
		if got := w.Header().Get("Retry-After"); w.Code != c.status || got != c.want {
			t.Errorf("%v, %v: %d with Retry-After %q, want %d with %q", c.reason, c.after, w.Code, got, c.status, c.want)
		}
		if w.Header().Get("Content-Type") != "application/json" || !json.Valid(w.Body.Bytes()) || kinds[w.Code] == "" {
			t.Errorf("%v: %v %s", c.reason, w.Header(), w.Body)
		}
	}
}
