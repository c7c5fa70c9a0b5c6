package sdktest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/throttle"
)

// A denial is what an SDK made of one call that wasn't let through.
type denial struct {
	tries int           // how often it came to the transport
	sent  int           // how many requests reached the vendor
	gap   time.Duration // the shortest between two tries
	err   error
}

// A setting is how the transport and the SDK are put together.
type setting struct {
	bare  bool // the SDK's own defaults, instead of what is advised
	opts  []headgate.Option
	limit throttle.Limit // how long the denial lasts
}

var (
	// Of denials that last: the next call has room in most of a day.
	oneADay = throttle.Requests(1, day)
	// Of short ones, though longer than a live call waits: 20 s.
	onePer20s = throttle.Requests(3, time.Minute).Using(throttle.GCRA).WithBurst(1)
	// Of those that a live call waits for.
	onePer4s = throttle.Requests(15, time.Minute).Using(throttle.GCRA).WithBurst(1)
)

// deny makes a call for which there is no room. Time is a bubble's: an SDK's
// waits are exact and cost nothing.
func deny(t *testing.T, s sdk, set setting, call func(calls) func(context.Context) error) (d denial) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(t, s, set.limit)
		g := newGate(th, s, detour(func(r *http.Request) (*http.Response, error) {
			d.sent++
			return answered(s.says.once, r), nil
		}), set.opts...)
		use := call(g.connect(t, s, set.bare))
		if use == nil {
			return
		}
		fill(t, th, s)
		d.err = use(t.Context())
		d.tries, d.gap = len(g.tries), shortest(g.tries)
	})
	return d
}

func once(c calls) func(context.Context) error   { return c.once }
func stream(c calls) func(context.Context) error { return c.stream }

// fill uses up the budget.
func fill(t *testing.T, th *throttle.Throttle, s sdk) {
	t.Helper()
	p, err := th.Acquire(t.Context(), throttle.Call{Key: throttle.FingerprintOf("other"), Account: account, Model: s.model})
	if err != nil {
		t.Fatal(err)
	}
	p.Done()
}

// answered returns a handler's answer without a network.
func answered(h http.HandlerFunc, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	h(w, r)
	resp := w.Result()
	resp.Request = r
	return resp
}

func shortest(tries []time.Time) time.Duration {
	gap := time.Duration(0)
	for i := 1; i < len(tries); i++ {
		if d := tries[i].Sub(tries[i-1]); gap == 0 || d < gap {
			gap = d
		}
	}
	return gap
}
