package headgate_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// someEach is enough for the retries of a test, a budget for each model.
func someEach(c *throttle.Config) {
	oneEach(c)
	for i := range c.Budgets {
		c.Budgets[i].Limits[0].Amount = 10
	}
}

// models returns what was sent, by its model.
func models(s *script) (names []string) {
	for _, a := range s.attempts {
		switch a.body {
		case `{"model":"m"}`:
			names = append(names, "m")
		case `{"model":"n"}`:
			names = append(names, "n")
		case `{"model":"third"}`:
			names = append(names, "third")
		default:
			names = append(names, a.body)
		}
	}
	return names
}

func TestRetriesAndFallbacksTogether(t *testing.T) {
	busyNow := says(429, busyBody, "Retry-After", "60")
	for name, c := range map[string]struct {
		answers []func() (*http.Response, error)
		key     bool
		want    []string
		served  string
		status  int
	}{
		// The first model is paused for longer than the lane waits.
		"busy":               {[]func() (*http.Response, error){busyNow, fine}, false, []string{"m", "n"}, "n", 200},
		"both busy":          {[]func() (*http.Response, error){busyNow, busyNow, fine}, false, []string{"m", "n", "third"}, "third", 200},
		"all busy":           {[]func() (*http.Response, error){busyNow}, false, []string{"m", "n", "third"}, "third", 429},
		"never sent":         {[]func() (*http.Response, error){fails(dialError), fine}, false, []string{"m", "m"}, "", 200},
		"may have arrived":   {[]func() (*http.Response, error){says(503, "{}", "Retry-After", "60"), fine}, true, []string{"m"}, "", 503},
		"same model again":   {[]func() (*http.Response, error){says(500, "{}"), fine}, true, []string{"m", "m"}, "", 200},
		"arrived before":     {[]func() (*http.Response, error){says(500, "{}"), busyNow, fine}, true, []string{"m", "m"}, "", 429},
		"backup again":       {[]func() (*http.Response, error){busyNow, says(500, "{}"), fine}, true, []string{"m", "n", "n"}, "n", 200},
		"backup had arrived": {[]func() (*http.Response, error){busyNow, says(500, "{}"), fine}, false, []string{"m", "n"}, "n", 500},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newScript(c.answers...)
				th := newThrottle(t, someEach, patient(5*time.Second))
				tr := through(th, base.RoundTrip, twoBackups, headgate.WithRetries(3), headgate.WithDeniedResponses())
				req := ownChat(t, `{"model":"m"}`)
				if c.key {
					req.Header.Set("Idempotency-Key", "k")
				}
				resp, err := tr.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				got := models(base)
				if len(got) != len(c.want) {
					t.Fatalf("sent %v, want %v", got, c.want)
				}
				for i := range got {
					if got[i] != c.want[i] {
						t.Fatalf("sent %v, want %v", got, c.want)
					}
				}
				if served, _ := headgate.FallbackFrom(resp); served != c.served || resp.StatusCode != c.status {
					t.Errorf("status %d, served by %q, want %d and %q", resp.StatusCode, served, c.status, c.served)
				}
			})
		})
	}
}

// keyWide is a vendor whose limits are all of its keys'.
var keyWide = dialect.Perplexity

// A vendor that asks the whole key to wait is left alone by the backups, too.
func TestAPauseOfTheKeyHoldsForBackups(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := newScript(says(429, busyBody, "Retry-After", "60"), fine)
		th := newThrottle(t, someEach, patient(-1), func(c *throttle.Config) { c.Pause.Max = 10 * time.Second })
		tr := headgate.NewTransport(th, keyWide, headgate.WithBase(base), twoBackups, headgate.WithRetries(1))
		status, _ := read(t, tr, ownChat(t, `{"model":"m"}`))
		if n := len(base.attempts); status != 429 || n != 1 {
			t.Errorf("status %d, %d attempts, want the 429 alone", status, n)
		}
	})
}
