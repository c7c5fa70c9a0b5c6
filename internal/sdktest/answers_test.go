package sdktest

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/headgate-go/headgate/throttle"
)

// each runs a test for every SDK, with the settings that docs/sdks.md advises,
// against a vendor on the loopback interface.
func each(t *testing.T, test func(t *testing.T, l *loop)) {
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			noLeaks(t)
			v, th := newVendor(t), newThrottle(t, s, roomy()...)
			g := newGate(th, s, v.base(t))
			test(t, &loop{sdk: s, vendor: v, throttle: th, gate: g, calls: g.connect(t, s, false)})
		})
	}
}

// A loop is an SDK, connected through a throttle to a vendor.
type loop struct {
	sdk      sdk
	vendor   *vendor
	throttle *throttle.Throttle
	gate     *gate
	calls    calls
}

// A call is charged its estimate while it runs, and its usage when it has
// ended, to the token.
func TestUsageReplacesTheEstimate(t *testing.T) {
	each(t, func(t *testing.T, l *loop) {
		l.wantSettled(t, l.calls.once, l.sdk.says.once, l.sdk.says.tokens)
		if l.calls.stream != nil {
			// By then the guesses have learned, and needn't be high.
			l.wantSettled(t, l.calls.stream, l.sdk.says.stream, 0)
		}
	})
}

func (l *loop) wantSettled(t *testing.T, call func(context.Context) error, answer http.HandlerFunc, above int64) {
	t.Helper()
	before, during := used(l.throttle, l.sdk), int64(0)
	l.vendor.now(func(w http.ResponseWriter, r *http.Request) {
		during = used(l.throttle, l.sdk) - before
		answer(w, r)
	})
	if err := call(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := l.sdk.says.tokens
	if after := used(l.throttle, l.sdk) - before; after != want {
		t.Errorf("charged %d tokens in the end, want %d", after, want)
	}
	if want > 0 && during <= above {
		t.Errorf("charged %d tokens during the call, want an estimate above %d", during, above)
	}
}

// A vendor's 429 closes the door for everybody: the next call isn't sent.
func TestBusyVendorPausesTheNextCall(t *testing.T) {
	each(t, func(t *testing.T, l *loop) {
		l.vendor.now(l.sdk.says.busy)
		if l.sdk.insists {
			l.wantHeldBack(t)
		} else {
			l.wantRefusal(t, http.StatusTooManyRequests)
		}
		status, err := l.throttle.Status(t.Context())
		if err != nil || len(status.Budgets) != 1 || status.Budgets[0].Paused <= 0 {
			t.Errorf("status %+v, %v, want a pause", status, err)
		}
		l.wantDenied(t, throttle.ErrPaused)
	})
}

// A revoked key is used once, and then only to probe.
func TestRevokedKeyIsNotSentAgain(t *testing.T) {
	each(t, func(t *testing.T, l *loop) {
		l.vendor.now(l.sdk.says.refused)
		l.wantRefusal(t, 0)
		status, err := l.throttle.Status(t.Context())
		if err != nil || len(status.Keys) != 1 {
			t.Errorf("status %+v, %v, want a refused key", status, err)
		}
		l.wantDenied(t, throttle.ErrKeyRefused)
	})
}

// wantRefusal makes a call that the vendor refuses, and wants the SDK's own
// error, as if there were no throttle. Status 0: any.
func (l *loop) wantRefusal(t *testing.T, status int) {
	t.Helper()
	err := l.calls.once(t.Context())
	r, ok := l.sdk.refusal(err)
	if !ok || errors.Is(err, throttle.ErrDenied) || status != 0 && r.status != status {
		t.Errorf("%T %v, want the SDK's own error with status %d", err, err, status)
	}
}

// wantHeldBack makes a call that the vendor refuses and the SDK wants to send
// again, and wants that to end at the pause which the first try has set.
func (l *loop) wantHeldBack(t *testing.T) {
	t.Helper()
	if err := l.calls.once(t.Context()); !errors.Is(err, throttle.ErrPaused) || l.vendor.hits.Load() != 1 {
		t.Errorf("error %v after %d requests, want ErrPaused after one", err, l.vendor.hits.Load())
	}
}

// wantDenied makes each kind of call, and wants it denied before it reaches
// the vendor, in one try.
func (l *loop) wantDenied(t *testing.T, reason error) {
	t.Helper()
	for _, call := range []func(context.Context) error{l.calls.once, l.calls.stream} {
		if call == nil {
			continue
		}
		hits, tries := l.vendor.hits.Load(), len(l.gate.tries)
		err := call(t.Context())
		var d *throttle.DeniedError
		if !errors.As(err, &d) || !errors.Is(err, reason) || d.RetryAfter <= 0 {
			t.Errorf("error %v, want a *throttle.DeniedError that is %v and says when to come back", err, reason)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%q names the key", err)
		}
		if n := l.vendor.hits.Load() - hits; n != 0 {
			t.Errorf("%d requests reached the vendor, want none", n)
		}
		if n := len(l.gate.tries) - tries; n != 1 {
			t.Errorf("%d tries, want 1", n)
		}
	}
}
