//go:build unix

package throttle_test

import (
	"errors"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/procs"
	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/throttle"
)

// Processes that stand still and go on: nothing that they had in their hands
// before is spent any more.

// frozenOver has a worker with leases and ten callers frozen for so long, while
// the model is paused, and returns when it went on.
func frozenOver(t *testing.T, s *Setup, pause, frozen time.Duration) (th *throttle.Throttle, w *procs.Process, thawed time.Time) {
	t.Helper()
	th, w = s.throttle(t), s.worker(t)
	w.Call(t, "Begin", Load{Callers: 10, Lane: "now", For: time.Second, Between: time.Millisecond}, new(int))
	var has [2]int64
	if !soon(func() bool { w.Call(t, "Status", 0, &has); return has[1] > 0 }) {
		t.Fatal("the worker leases nothing")
	}
	w.Freeze(t)
	p, err := tryNow(t, th, call())
	if err != nil {
		t.Fatal(err)
	}
	p.Answered(throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: pause})
	p.Done()
	time.Sleep(frozen)
	thawed = time.Now()
	w.Thaw(t)
	return th, w, thawed
}

// wantNoneSince wants no call to have gone that began after an instant, though
// callers have called for a while.
func wantNoneSince(t *testing.T, w *procs.Process, thawed time.Time) {
	t.Helper()
	time.Sleep(time.Second)
	var last int64
	if w.Call(t, "Last", 0, &last); last == 0 {
		t.Fatal("no call went at all")
	}
	if by := time.Unix(0, last).Sub(thawed); by > 0 {
		var n int64
		w.Call(t, "Went", 0, &n)
		t.Errorf("a call began %v after the process went on, and went by a lease of before the pause", by)
	}
}

func TestALeaseThatEndedWhileItsProcessWasFrozenIsNotSpent(t *testing.T) { // B128
	s := setup(t, throttle.Requests(1_000_000, 24*time.Hour))
	s.Lease = leasing.Policy{Chunk: 10_000, MaxAge: time.Second}
	s.Pause.Max = time.Hour
	_, w, thawed := frozenOver(t, s, time.Hour, 1500*time.Millisecond)
	wantNoneSince(t, w, thawed)
}

func TestALeaseIsNotSpentAfterAPauseThatBeganWhileItsProcessWasFrozen(t *testing.T) { // B128
	s := setup(t, throttle.Requests(1_000_000, 24*time.Hour))
	s.Lease = leasing.Policy{Chunk: 100_000, MaxAge: time.Hour}
	s.Pause.Max = time.Hour
	_, w, thawed := frozenOver(t, s, time.Hour, 3*time.Second)
	wantNoneSince(t, w, thawed)
}

func TestAProcessFrozenOverAWholePauseGoesOnWithinTheBudget(t *testing.T) { // B128
	const amount = 3000
	s := setup(t, throttle.Requests(amount, 24*time.Hour))
	s.Lease = leasing.Policy{Chunk: 50, MaxAge: time.Second}
	th, w, thawed := frozenOver(t, s, time.Second, 1500*time.Millisecond)
	if !soon(func() bool { var last int64; w.Call(t, "Last", 0, &last); return time.Unix(0, last).After(thawed) }) {
		t.Error("the process doesn't go on")
	}
	var theirs int64
	w.Call(t, "Cease", 0, &theirs)
	w.Call(t, "Close", 0, new(time.Duration)) // gives its leases back
	ours := int64(1)                          // the one that was told of the pause
	for {
		p, err := tryNow(t, th, call())
		if err != nil {
			if !errors.Is(err, throttle.ErrBudget) {
				t.Error(err)
			}
			break
		}
		ours++
		p.Done()
	}
	if ours+theirs != amount {
		t.Errorf("%d calls went here and %d there, of %d", ours, theirs, amount)
	}
}
