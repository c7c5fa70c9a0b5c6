package headgate_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/throttle"
)

// shown is of the page's JSON what these tests look at.
type shown struct {
	Operator bool
	Store    struct {
		Kind    string
		Outages []struct{ Cause string }
	}
	Keys    []struct{ ID, Key, Account, State, Class, Detail string }
	Budgets []struct {
		ID, Account, Budget string
		Pauses              []struct {
			Scope, Class, Detail string
			Left                 int64 `json:"left_ms"`
		}
		Limits []struct {
			Limit, Unit  string
			Used, Amount int64
			Lanes        []struct {
				Lane          string
				Ceiling, Room int64
			}
		}
	}
	Changes []struct{ Kind, Budget, Detail string }
}

func visit(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func statusJSON(t *testing.T, h http.Handler) shown {
	t.Helper()
	w := visit(h, httptest.NewRequest("GET", "/?format=json", nil))
	var s shown
	if err := json.Unmarshal(w.Body.Bytes(), &s); err != nil || w.Code != http.StatusOK {
		t.Fatalf("status %d, %v: %.300s", w.Code, err, w.Body)
	}
	return s
}

// use makes a call that the vendor answers so.
func use(t *testing.T, th *throttle.Throttle, c throttle.Call, v throttle.Verdict) {
	t.Helper()
	p, err := th.Acquire(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	p.Answered(v)
	p.Done()
}

func TestThePageAsJSONShowsUsePausesKeysAndChanges(t *testing.T) {
	th := newThrottle(t)
	h := headgate.StatusHandler(th)
	call := throttle.Call{Key: "print-a", Model: model, Cost: estimate}
	use(t, th, call, throttle.Verdict{})
	use(t, th, call, throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: time.Minute, Detail: "slow down"})
	use(t, th, throttle.Call{Key: "print-b", Model: model}, throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey, Detail: "revoked"})
	s := statusJSON(t, h)
	if s.Operator || s.Store.Kind != "memory" || len(s.Budgets) != 2 || len(s.Keys) != 2 || len(s.Changes) != 2 {
		t.Fatalf("%+v", s)
	}
	b := s.Budgets[0]
	if b.Account != "print-a" || len(b.Pauses) != 1 || b.Pauses[0].Scope != "model" || b.Pauses[0].Class != "busy" ||
		b.Pauses[0].Left <= 0 || b.Pauses[0].Left > 60_000 || b.Pauses[0].Detail != "slow down" {
		t.Errorf("budget %+v", b)
	}
	if l := b.Limits[0]; l.Used != 2 || l.Amount != maxRequests || l.Unit != "requests" || len(l.Lanes) != 2 ||
		l.Lanes[1].Lane != "background" || l.Lanes[1].Ceiling != 6000 || l.Lanes[1].Room != 5998 {
		t.Errorf("limit %+v", l)
	}
	if k := s.Keys[0]; k.Key != "print-b" || k.State != "refused" || k.Class != "key_refused" || k.Detail != "revoked" {
		t.Errorf("refused key %+v", k)
	}
	if k := s.Keys[1]; k.Key != "print-a" || k.State != "open" || k.ID != "" {
		t.Errorf("open key %+v", k)
	}
	if s.Changes[0].Kind != "key_refused" || s.Changes[1].Kind != "paused" {
		t.Errorf("changes %+v, the newest first", s.Changes)
	}
}

func TestThePageComesAsAsked(t *testing.T) {
	h := headgate.StatusHandler(newThrottle(t), nil)
	for _, c := range []struct {
		path, accept string
		json         bool
	}{
		{"/", "", false},
		{"/", "text/html,application/xhtml+xml,*/*;q=0.8", false},
		{"/", "application/json", true},
		{"/", "text/html, application/json", false},
		{"/deep/down/?format=json", "text/html", true},
		{"/?format=html", "application/json", false},
	} {
		r := httptest.NewRequest("GET", c.path, nil)
		r.Header.Set("Accept", c.accept)
		w := visit(h, r)
		want := "text/html; charset=utf-8"
		if c.json {
			want = "application/json; charset=utf-8"
		}
		if got := w.Header().Get("Content-Type"); w.Code != 200 || got != want || json.Valid(w.Body.Bytes()) != c.json {
			t.Errorf("%s, Accept %q: status %d, %s", c.path, c.accept, w.Code, got)
		}
	}
}

func TestThePageLoadsNothingFromElsewhereAndIsKeptNowhere(t *testing.T) {
	h := headgate.StatusHandler(newThrottle(t), headgate.WithOperator())
	for _, path := range []string{"/", "/?format=json"} {
		w := visit(h, httptest.NewRequest("GET", path, nil))
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
		policy := w.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'sha256-") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") ||
			!strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, policy)
		}
	}
	page := visit(h, httptest.NewRequest("GET", "/", nil)).Body.String()
	for _, word := range []string{"http://", "https://", "innerHTML", "eval(", " src=", "style=\""} {
		if strings.Contains(page, word) {
			t.Errorf("the page contains %q", word)
		}
	}
}

// The names are JSON strings, whose < the encoder escapes, and the page itself is
// the same for everybody.
func TestHostileNamesStayNames(t *testing.T) {
	for what, hostile := range map[string]string{
		"script": `<script>alert(1)</script>`, "quotes": `"'` + "`" + ` onload="x"`, "controls": "a\x00\x1b[2J\u202e\r\n\u2028b", "not UTF-8": "a\xff\xfeb",
		"10 KB": strings.Repeat("ä<", 5000),
	} {
		t.Run(what, func(t *testing.T) {
			th := newThrottle(t, func(c *throttle.Config) { c.Budgets[0].Models, c.Budgets[0].PerModel = []string{"*"}, true })
			h := headgate.StatusHandler(th)
			before := visit(h, httptest.NewRequest("GET", "/", nil)).Body.String()
			use(t, th, throttle.Call{Key: throttle.Fingerprint(hostile), Account: hostile, Model: hostile, Tenant: hostile},
				throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: time.Minute, Detail: hostile})
			if after := visit(h, httptest.NewRequest("GET", "/", nil)).Body.String(); after != before {
				t.Error("the page is another one once there are names")
			}
			body := visit(h, httptest.NewRequest("GET", "/?format=json", nil)).Body.String()
			if strings.ContainsAny(body, "<>\x00\x1b\u2028") || len(body) > 20_000 {
				t.Errorf("%d bytes: %.500s", len(body), body)
			}
			s := statusJSON(t, h)
			want := strings.ToValidUTF8(hostile, "\ufffd\ufffd")
			if len(hostile) > 1000 {
				want = strings.Repeat("ä<", 85) + "…"
			}
			if len(s.Budgets) != 1 || s.Budgets[0].Account != "@"+want || s.Budgets[0].Pauses[0].Detail != want || len(s.Changes) != 1 || s.Changes[0].Detail != want {
				t.Errorf("%+v, want names %q", s, want)
			}
		})
	}
}

func TestAPageOfNoThrottleSaysSo(t *testing.T) {
	w := visit(headgate.StatusHandler(nil), httptest.NewRequest("GET", "/", nil))
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "no throttle") {
		t.Errorf("status %d, %s", w.Code, w.Body)
	}
}
