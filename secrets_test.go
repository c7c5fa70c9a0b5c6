package headgate_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// A record keeps everything that leaves the module.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// into makes the throttle log and report to the record.
func (r *record) into(c *throttle.Config) {
	c.Logger = slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug}))
	c.Observe = func(e throttle.Event) { fmt.Fprintf(r, "%+v %v\n", e, e.Err) }
}

// withSecrets puts the key wherever vendors want it, and names no account, so
// that the key itself is the account.
func withSecrets(t *testing.T, url string) *http.Request {
	req := post(t, url)
	req.URL.RawQuery = "key=" + secret
	if strings.HasSuffix(t.Name(), "/twilio") {
		req.SetBasicAuth("AC1", secret)
	}
	req.Header.Set("X-Api-Key", secret)
	return req.WithContext(headgate.WithCall(t.Context(), throttle.Call{Model: model, Cost: estimate}))
}

// B162: the key is in no error, log or event, whatever goes wrong.
func TestB162CredentialLeavesNoTrace(t *testing.T) {
	secure := newVendor2(t, answer(200, usageBody))
	refusing := newVendor(t, answer(401, `{"error":{"message":"Incorrect API key provided: `+secret+`","code":"invalid_api_key"}}`))
	fine := newVendor(t, answer(200, usageBody))
	for name, c := range map[string]struct {
		url  string
		with func(*throttle.Config)
		opts []headgate.Option
	}{
		"dial error":     {url: deadAddress(t)},
		"TLS error":      {url: secure.URL},
		"401":            {url: refusing.URL},
		"no room":        {url: fine.URL, with: full},
		"not built":      {url: fine.URL, opts: []headgate.Option{headgate.WithRetries(1)}},
		"invalid scheme": {url: "gopher://vendor.test"},
	} {
		for _, d := range []dialect.Dialect{dialect.OpenAI, dialect.Anthropic, dialect.Gemini, dialect.Twilio, dialect.Generic} {
			t.Run(name+"/"+d.Name(), func(t *testing.T) {
				seen := &record{}
				if c.with == nil {
					c.with = func(*throttle.Config) {}
				}
				base := &http.Transport{}
				defer base.CloseIdleConnections()
				tr := headgate.NewTransport(newThrottle(t, c.with, seen.into), d, append(c.opts, headgate.WithBase(base))...)
				for range 2 { // the second time, what the first has set is in the way
					seen.send(tr, withSecrets(t, c.url))
				}
				if text := seen.String(); strings.Contains(text, secret) {
					t.Errorf("the key is in what was reported:\n%s", text)
				}
			})
		}
	}
}

// send sends the request and keeps what is said about it.
func (r *record) send(tr *headgate.Transport, req *http.Request) {
	resp, err := tr.RoundTrip(req)
	fmt.Fprintf(r, "%v %+v\n", err, err)
	var d *throttle.DeniedError
	if errors.As(err, &d) {
		fmt.Fprintf(r, "%+v\n", *d)
	}
	if err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

// B162: nor is it in the response that stands for a denial.
func TestB162CredentialIsInNoDeniedResponse(t *testing.T) {
	tr := through(newThrottle(t, full), ok, headgate.WithDeniedResponses())
	spend(t, tr)
	resp, err := tr.RoundTrip(withSecrets(t, "http://vendor.test"))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	if all := fmt.Sprint(resp.Status, resp.Header, string(text)); strings.Contains(all, secret) {
		t.Errorf("the key is in %s", all)
	}
}

// B163: two tenants' keys don't get mixed, and one that is refused doesn't stop
// the other.
func TestB163KeysOfOneTransportAreKeptApart(t *testing.T) {
	v := newVendor(t, func(w http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("Authorization"); key != "Bearer "+r.Header.Get("X-Tenant") {
			t.Errorf("tenant %q came with %q", r.Header.Get("X-Tenant"), key)
		}
		if r.Header.Get("X-Tenant") == "bad" {
			answer(401, `{"error":{"code":"invalid_api_key"}}`)(w, r)
			return
		}
		answer(200, usageBody)(w, r)
	})
	client := v.wrap(t, newThrottle(t))
	send := func(tenant string) error {
		req := post(t, v.URL).WithContext(t.Context()) // each key is its own account here
		req.Header.Set("Authorization", "Bearer "+tenant)
		req.Header.Set("X-Tenant", tenant)
		resp, err := client.Do(req)
		if err == nil {
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		return err
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := send("bad"); err != nil && !errors.Is(err, throttle.ErrKeyRefused) {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := send("good"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := send("bad"); !errors.Is(err, throttle.ErrKeyRefused) {
		t.Errorf("error %v, want ErrKeyRefused", err)
	}
	if err := send("good"); err != nil {
		t.Errorf("the other key: %v", err)
	}
}
