package headgate_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/throttle"
)

// onRedis gives the throttle a store on the server, as one more process of a
// fleet has it.
func onRedis(t *testing.T, server *redistest.Server) func(*throttle.Config) {
	t.Helper()
	store, err := throttle.NewRedisStore(server.Client(t), throttle.RedisOptions{Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return func(c *throttle.Config) { c.Store = store }
}

// B162: nothing that is sent to Redis has the key in it.
func TestB162CredentialNeverReachesRedis(t *testing.T) {
	server := redistest.Start(t)
	commands := server.Monitor(t, func() {
		for _, base := range []stub{answered, refused, busy} {
			th := newThrottle(t, onRedis(t, server))
			tr := through(th, base)
			for range 2 {
				resp, err := tr.RoundTrip(withSecrets(t, "http://vendor.test"))
				if err != nil && !errors.Is(err, throttle.ErrDenied) {
					t.Error(err)
				}
				if err == nil {
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}
			th.Close()
		}
	})
	if len(commands) == 0 {
		t.Error("Redis was sent nothing")
	}
	for _, c := range commands {
		if strings.Contains(c, secret) {
			t.Errorf("the key was sent to Redis: %s", c)
		}
	}
}

// answered is a base whose answers name their usage.
func answered(*http.Request) (*http.Response, error) {
	return reply(200, io.NopCloser(strings.NewReader(usageBody))), nil
}

func TestFleetSharesWhatOneTransportLearns(t *testing.T) {
	server := redistest.Start(t)
	first, second := newThrottle(t, onRedis(t, server)), newThrottle(t, onRedis(t, server))
	spend(t, through(first, answered))
	wantUsed(t, first, 1, usageTokens)
	wantUsed(t, second, 1, usageTokens)
	spend(t, through(first, busy))
	_, err := through(second, func(*http.Request) (*http.Response, error) {
		t.Error("sent during the pause")
		return nil, errors.New("sent")
	}).RoundTrip(post(t, "http://vendor.test"))
	if !errors.Is(err, throttle.ErrPaused) {
		t.Errorf("error %v, want ErrPaused", err)
	}
}

// A retry of one process waits for the pause that another's answer began, too.
func TestARetryWaitsForTheFleetsPause(t *testing.T) {
	server := redistest.Start(t)
	first := newThrottle(t, patient(-1), onRedis(t, server))
	second := newThrottle(t, patient(-1), onRedis(t, server))
	longer := func(*http.Request) (*http.Response, error) {
		return says(429, busyBody, "Retry-After-Ms", "900")()
	}
	var paused time.Time
	base := newScript(func() (*http.Response, error) {
		paused = time.Now()
		spend(t, through(second, longer))
		return says(429, busyBody, "Retry-After-Ms", "100")()
	}, fine)
	status, _ := read(t, through(first, base.RoundTrip, headgate.WithRetries(1)), post(t, "http://vendor.test"))
	if status != 200 || len(base.attempts) != 2 {
		t.Fatalf("status %d, %d attempts", status, len(base.attempts))
	}
	if waited := base.start.Add(base.attempts[1].at).Sub(paused); waited < 900*time.Millisecond {
		t.Errorf("the retry left %v after the other's answer, want at least its 900 ms", waited)
	}
}
