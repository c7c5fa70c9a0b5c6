package headgate_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/throttle"
)

// form is a POST as the page itself sends it.
func form(fields ...string) *http.Request {
	v := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		v.Set(fields[i], fields[i+1])
	}
	r := httptest.NewRequest("POST", "http://page.example/", strings.NewReader(v.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return r
}

func TestThePageIsReadOnlyUnlessToldOtherwise(t *testing.T) {
	th := newThrottle(t)
	for _, c := range []struct {
		h     http.Handler
		allow string
		post  int
	}{
		{headgate.StatusHandler(th), "GET, HEAD", 405},
		{headgate.StatusHandler(th, headgate.WithOperator()), "GET, HEAD, POST", 400},
	} {
		for _, method := range []string{"PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} {
			w := visit(c.h, httptest.NewRequest(method, "/", nil))
			if w.Code != 405 || w.Header().Get("Allow") != c.allow {
				t.Errorf("%s: status %d, Allow %q, want 405 and %q", method, w.Code, w.Header().Get("Allow"), c.allow)
			}
		}
		if w := visit(c.h, form()); w.Code != c.post {
			t.Errorf("POST: status %d, want %d", w.Code, c.post)
		}
		if w := visit(c.h, httptest.NewRequest("HEAD", "/", nil)); w.Code != 200 {
			t.Errorf("HEAD: status %d", w.Code)
		}
	}
}

func TestAnOperatorPausesAndResumesByThePage(t *testing.T) {
	th := newThrottle(t)
	h := headgate.StatusHandler(th, headgate.WithOperator())
	call := throttle.Call{Key: "k", Model: model}
	use(t, th, call, throttle.Verdict{})
	id := statusJSON(t, h).Budgets[0].ID
	for _, scope := range []string{"model", "key"} {
		if w := visit(h, form("action", "pause", "id", id, "scope", scope, "for", "5m")); w.Code != 200 {
			t.Fatalf("pause: status %d, %s", w.Code, w.Body)
		}
		if s := statusJSON(t, h); !s.Operator || len(s.Budgets[0].Pauses) != 1 || s.Budgets[0].Pauses[0].Scope != scope || s.Budgets[0].Pauses[0].Left < 240_000 {
			t.Errorf("after a pause: %+v", s)
		}
		if err := th.Check(context.Background(), call); !errors.Is(err, throttle.ErrPaused) {
			t.Errorf("a call meanwhile: %v, want ErrPaused", err)
		}
		if w := visit(h, form("action", "resume", "id", id, "scope", scope)); w.Code != 200 {
			t.Fatalf("resume: status %d, %s", w.Code, w.Body)
		}
		if s := statusJSON(t, h); len(s.Budgets[0].Pauses) != 0 {
			t.Errorf("after the end: %+v", s.Budgets[0].Pauses)
		}
	}
}

func TestAnOperatorHasARefusedKeyProbedByThePage(t *testing.T) {
	th := newThrottle(t)
	h := headgate.StatusHandler(th, headgate.WithOperator())
	call := throttle.Call{Key: "k", Model: model}
	use(t, th, call, throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey})
	if _, err := th.Acquire(context.Background(), call); !errors.Is(err, throttle.ErrKeyRefused) {
		t.Fatalf("%v, want ErrKeyRefused", err)
	}
	if w := visit(h, form("action", "probe", "id", statusJSON(t, h).Keys[0].ID)); w.Code != 200 {
		t.Fatalf("probe: status %d, %s", w.Code, w.Body)
	}
	use(t, th, call, throttle.Verdict{}) // the probe
	if k := statusJSON(t, h).Keys[0]; k.State != "open" {
		t.Errorf("after a probe that was answered: %+v", k)
	}
}

func TestFormsThatMeanNothingSayWhy(t *testing.T) {
	th := newThrottle(t)
	h := headgate.StatusHandler(th, headgate.WithOperator())
	use(t, th, throttle.Call{Key: "k", Model: model}, throttle.Verdict{})
	id := statusJSON(t, h).Budgets[0].ID
	for _, c := range []struct {
		fields []string
		code   int
		why    string
	}{
		{nil, 400, "action"},
		{[]string{"action", "explode", "id", id}, 400, "action"},
		{[]string{"action", "pause", "id", id, "scope", "all", "for", "1m"}, 400, "scope"},
		{[]string{"action", "pause", "id", id, "scope", "model"}, 400, "for is"},
		{[]string{"action", "pause", "id", id, "scope", "model", "for", "-1s"}, 400, "for is"},
		{[]string{"action", "pause", "id", id, "scope", "model", "for", "25h"}, 400, "for is"},
		{[]string{"action", "pause", "id", "nobody", "scope", "model", "for", "1m"}, 404, "no budget"},
		{[]string{"action", "resume", "id", "nobody", "scope", "key"}, 404, "no budget"},
		{[]string{"action", "probe", "id", id}, 404, "no refused key"},
		{[]string{"action", "pause", "id", strings.Repeat("x", 5000)}, 400, "can't be read"},
	} {
		w := visit(h, form(c.fields...))
		if w.Code != c.code || !strings.Contains(w.Body.String(), c.why) {
			t.Errorf("%.80q: status %d, %.100s, want %d and %q", c.fields, w.Code, w.Body, c.code, c.why)
		}
	}
	r := form()
	r.URL.RawQuery = url.Values{"action": {"pause"}, "id": {id}, "scope": {"model"}, "for": {"1m"}}.Encode()
	if w := visit(h, r); w.Code != 400 {
		t.Errorf("a form in the URL: status %d, want 400", w.Code)
	}
	if s := statusJSON(t, h); len(s.Budgets[0].Pauses) != 0 || len(s.Changes) != 0 {
		t.Errorf("something was done: %+v", s)
	}
}

func TestAFormOfAnotherOriginDoesNothing(t *testing.T) {
	th := newThrottle(t)
	h := headgate.StatusHandler(th, headgate.WithOperator())
	use(t, th, throttle.Call{Key: "k", Model: model}, throttle.Verdict{})
	fields := []string{"action", "pause", "id", statusJSON(t, h).Budgets[0].ID, "scope", "model", "for", "1m"}
	for _, header := range []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}},
		{"Sec-Fetch-Site": {"same-site"}},
		{"Origin": {"http://evil.example"}},
		{"Origin": {"null"}},
	} {
		r := form(fields...)
		r.Header.Del("Sec-Fetch-Site")
		for name := range header {
			r.Header.Set(name, header.Get(name))
		}
		if w := visit(h, r); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "another origin") {
			t.Errorf("%v: status %d, %s, want 403", header, w.Code, w.Body)
		}
	}
	if s := statusJSON(t, h); len(s.Budgets[0].Pauses) != 0 {
		t.Errorf("it was paused: %+v", s.Budgets[0].Pauses)
	}
	r := form(fields...)
	r.Header.Del("Sec-Fetch-Site")
	r.Header.Set("Origin", "http://page.example")
	if w := visit(h, r); w.Code != 200 {
		t.Errorf("from its own origin: status %d, %s", w.Code, w.Body)
	}
}

func TestThePageWorksWhileTheStoreIsOut(t *testing.T) {
	server := redistest.Start(t)
	th := newThrottle(t, onRedis(t, server))
	h := headgate.StatusHandler(th, headgate.WithOperator())
	use(t, th, throttle.Call{Key: "k", Model: model}, throttle.Verdict{})
	id := statusJSON(t, h).Budgets[0].ID
	server.Stop(t)
	deadline := time.Now().Add(20 * time.Second)
	shown := func() bool { // and told, which comes a little later
		s := statusJSON(t, h)
		return len(s.Store.Outages) > 0 && len(s.Changes) > 0
	}
	for !shown() {
		if time.Now().After(deadline) {
			t.Fatal("the outage isn't shown")
		}
		use(t, th, throttle.Call{Key: "k", Model: model}, throttle.Verdict{})
	}
	if s := statusJSON(t, h); s.Store.Outages[0].Cause == "" || len(s.Budgets) != 1 || s.Changes[0].Kind != "outage_start" {
		t.Errorf("during an outage: %+v", s)
	}
	if w := visit(h, form("action", "resume", "id", id, "scope", "model")); w.Code != http.StatusServiceUnavailable {
		t.Errorf("resume during an outage: status %d, %s, want 503", w.Code, w.Body)
	}
}
