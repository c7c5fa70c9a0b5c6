package headgate_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// WithCall's model decides which backups there are; the request's is replaced.
func TestFallbacksGoByTheModelThatIsCharged(t *testing.T) {
	base := newScript(fine)
	th := newThrottle(t, oneEach)
	tr := through(th, base.RoundTrip, headgate.WithFallbacks(map[string][]string{model: {"n"}}))
	for range 2 {
		req := ownChat(t, `{"model":"house"}`)
		resp, err := tr.RoundTrip(req.WithContext(as(req.Context())))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if base.attempts[0].body != `{"model":"house"}` || base.attempts[1].body != `{"model":"n"}` {
		t.Errorf("attempts %+v", base.attempts)
	}
}

// Where the request can't be put otherwise, the denial stands and the body is
// closed once.
func TestARequestThatCantBePutOtherwiseIsDenied(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"no GetBody": func(r *http.Request) { r.GetBody = nil },
		"signed":     func(r *http.Request) { r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=x") },
		"other model": func(r *http.Request) {
			*r = *r.WithContext(headgate.WithCall(r.Context(), throttle.Call{Model: "third"}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			th := newThrottle(t, oneEach)
			tr := through(th, ok, twoBackups)
			req := post(t, "http://vendor.test")
			change(req)
			resp, err := tr.RoundTrip(req.Clone(req.Context()))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			body := &counted{Reader: strings.NewReader(`{"model":"m"}`)}
			req.Body = body
			if _, err := tr.RoundTrip(req); !errors.Is(err, throttle.ErrBudget) || body.closes.Load() != 1 {
				t.Errorf("%v, body closed %d times, want ErrBudget and once", err, body.closes.Load())
			}
		})
	}
}

// The request's own body is closed once, whichever way it takes.
func TestFallbackClosesTheRequestsBodyOnce(t *testing.T) {
	tr := through(newThrottle(t, oneEach), func(r *http.Request) (*http.Response, error) {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
		return reply(200, http.NoBody), nil
	}, twoBackups)
	for i := range 4 {
		own := &counted{Reader: strings.NewReader(chatBody)}
		var copies []*counted
		req := ownChat(t, chatBody)
		req.Body = own
		req.GetBody = func() (io.ReadCloser, error) {
			c := &counted{Reader: strings.NewReader(chatBody)}
			copies = append(copies, c)
			return c, nil
		}
		if _, err := tr.RoundTrip(req); (err != nil) != (i == 3) {
			t.Fatal(err)
		}
		for j, c := range append(copies, own) {
			if c.closes.Load() != 1 {
				t.Errorf("call %d: body %d of %d closed %d times", i, j, len(copies), c.closes.Load())
			}
		}
	}
}

// A model in the path needs no second body.
func TestFallbackInThePathWorksWithoutGetBody(t *testing.T) {
	base := newScript(fine)
	th := newThrottle(t, oneEach)
	tr := headgate.NewTransport(th, dialect.Gemini, headgate.WithBase(base), twoBackups)
	body := `{"contents":["` + strings.Repeat("text ", 1<<20) + `"]}` // more than is read ahead
	for range 2 {
		req, _ := http.NewRequest("POST", "https://vendor.test/v1beta/models/m:generateContent?key=k", io.NopCloser(strings.NewReader(body)))
		req.Header.Set("Content-Type", "application/json")
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	a := base.attempts[1]
	if a.req.URL.String() != "https://vendor.test/v1beta/models/n:generateContent?key=k" || a.body != body {
		t.Errorf("sent %d bytes to %s, want %d", len(a.body), a.req.URL, len(body))
	}
}

// A backup whose name is read as another's would be charged to a wrong budget.
func TestABackupThatIsReadAsAnotherIsNotUsed(t *testing.T) {
	base := newScript(fine)
	th := newThrottle(t, oneEach)
	tr := headgate.NewTransport(th, dialect.Gemini, headgate.WithBase(base),
		headgate.WithFallbacks(map[string][]string{model: {"models/n", "third"}}))
	for range 2 {
		resp, err := tr.RoundTrip(ownChat(t, `{"model":"m"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if a := base.attempts[1]; a.body != `{"model":"third"}` {
		t.Errorf("sent %s, want the third model", a.body)
	}
}
