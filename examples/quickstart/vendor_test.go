package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// The vendor has to say things the way that OpenAI does, or the example would
// show something else than it claims.
func TestVendorSpeaksTheDialect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		script func(*account)
		want   throttle.Verdict
	}{
		{"answers", func(*account) {}, throttle.Verdict{Class: throttle.OK}},
		{"slow down", func(a *account) { a.slowDown(2 * time.Second) },
			throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: 2 * time.Second}},
		{"revoked", func(a *account) { a.setRevoked(true) },
			throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey}},
		{"over the limit", func(a *account) { a.limit = &window{amount: 0, per: time.Second} },
			throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: time.Second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := startTestVendor(t)
			c.script(v.open("sk-test", 0, 0))
			resp := post(t, v, "sk-test")
			defer resp.Body.Close()
			got := dialect.Judge(dialect.OpenAI, resp)
			got.Detail = ""
			if got != c.want {
				t.Errorf("judged %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestVendorWritesArrivalsDown(t *testing.T) {
	t.Parallel()
	v := startTestVendor(t)
	a := v.open("sk-test", 0, 0)
	before := time.Now()
	post(t, v, "sk-test").Body.Close()
	a.setRevoked(true)
	post(t, v, "sk-test").Body.Close()
	if n := len(a.arrivals(within(before, time.Now()))); n != 2 {
		t.Errorf("%d arrivals, want 2", n)
	}
	refused := a.arrivals(withStatus(http.StatusUnauthorized))
	if len(refused) != 1 || refused[0].origin.lane != live {
		t.Errorf("refused are %+v, want one live call", refused)
	}
}

func startTestVendor(t *testing.T) *vendor {
	t.Helper()
	v, err := startVendor()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

func post(t *testing.T, v *vendor, key string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.url+"/v1/chat/completions", strings.NewReader(`{"model":"`+chat+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set(laneHeader, live)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}
