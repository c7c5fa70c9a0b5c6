package headgate_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/throttle"
)

func dry(c *throttle.Config) { c.DryRun = true }

// A dry run sends what was asked for, to the model that was asked for, and
// charges what enforcement would have.
func TestADryRunSendsEverythingAndToNoBackup(t *testing.T) {
	base := newScript(fine)
	th := newThrottle(t, oneEach, dry)
	tr := through(th, base.RoundTrip, twoBackups)
	for range 4 {
		resp, err := tr.RoundTrip(ownChat(t, `{"model":"m"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if served, ok := headgate.FallbackFrom(resp); ok {
			t.Errorf("served by %q", served)
		}
	}
	if got := models(base); !slices.Equal(got, []string{"m", "m", "m", "m"}) {
		t.Errorf("sent %v", got)
	}
	s, err := th.Status(t.Context())
	if err != nil || len(s.Budgets) != 1 || s.Budgets[0].WouldDeny["budget"] != 3 {
		t.Errorf("status: %+v, %v", s.Budgets, err)
	}
}

// A retry waits for as long as the vendor asked, though the throttle holds
// nobody back; and no longer than any wait that pauses nothing.
func TestARetryInADryRunRespectsTheVendorsFloor(t *testing.T) {
	for name, c := range map[string]struct {
		header      []string
		want        []string
		status      int
		least, most time.Duration // of the retry
	}{
		"soon":     {[]string{"Retry-After", "3"}, []string{"m", "m"}, 200, 3 * time.Second, 4 * time.Second},
		"later":    {[]string{"Retry-After", "20"}, []string{"m", "m"}, 200, 20 * time.Second, 21 * time.Second},
		"too late": {[]string{"Retry-After", "60"}, []string{"m"}, 429, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				base := newScript(says(http.StatusTooManyRequests, busyBody, c.header...), fine)
				th := newThrottle(t, someEach, patient(5*time.Second), dry)
				tr := through(th, base.RoundTrip, twoBackups, headgate.WithRetries(1))
				resp, err := tr.RoundTrip(ownChat(t, `{"model":"m"}`))
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				if got := models(base); !slices.Equal(got, c.want) || resp.StatusCode != c.status {
					t.Fatalf("sent %v, status %d, want %v and %d", got, resp.StatusCode, c.want, c.status)
				}
				if c.most == 0 {
					return
				}
				if at := base.attempts[1].at; at < c.least || at > c.most {
					t.Errorf("the retry left after %v, want %v to %v", at, c.least, c.most)
				}
			})
		})
	}
}
