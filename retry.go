package headgate

import (
	"errors"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/headgate-go/headgate/throttle"
)

// Bounds of retries.
const (
	firstBackoff  = 500 * time.Millisecond // half more or less of it, and twice that each time
	longestBack   = 8 * time.Second
	longestJitter = 750 * time.Millisecond // above a pause

	// longestFloor is the longest wait that a vendor may ask for, if the retry
	// is to be made at all; longestSleep is that of a wait that pauses nothing,
	// which no lane bounds.
	longestFloor = 5 * time.Minute
	longestSleep = 30 * time.Second

	// longestHold is how long a permit may be held until the retry is due. A
	// pause that ended earlier than that was shorter than the vendor's wait.
	longestHold = time.Second
)

// errTooLong is a wait that a dry run would have to sleep here.
var errTooLong = errors.New("headgate: a retry would have to wait for too long")

var errTooEarly = errors.New("headgate: a retry would come before the vendor's wait has passed, or too late")

// repeat makes further attempts, as long as that is safe and may help, and
// returns what became of the last. A retry that isn't admitted leaves the
// outcome before it as it was, so that the caller gets the vendor's own word.
func (w *trip) repeat(o outcome) outcome {
	pace := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(firstBackoff),
		backoff.WithMultiplier(2),
		backoff.WithMaxInterval(longestBack),
		backoff.WithMaxElapsedTime(0),
	)
	for range w.retries {
		if !w.mayRepeat(&o) {
			return o
		}
		w.bound = w.bound || !o.undone
		next, err := w.again(&o, pace.NextBackOff())
		if err != nil {
			return w.lastWord(o)
		}
		o = next
	}
	return o
}

// lastWord returns what the caller gets where no further attempt is made.
func (w *trip) lastWord(o outcome) outcome {
	if err := over(w.req); err != nil {
		o.discard()
		return outcome{err: err}
	}
	return o
}

// again makes the next attempt once its time has come. Its error means that it
// wasn't made. A wait that pauses the model or the account isn't slept here: the
// throttle knows when it ends, who else waits, and how long the lane may.
func (w *trip) again(o *outcome, delay time.Duration) (outcome, error) {
	o.end()
	if !o.pauses() {
		due := o.at.Add(o.floor() + delay)
		if o.floor() > longestSleep || w.isTooLate(due) {
			return outcome{}, errTooEarly
		}
		if err := w.sleepUntil(due); err != nil {
			return outcome{}, err
		}
	}
	o.due = o.at.Add(o.floor() + min(delay, longestJitter))
	return w.attempt(o)
}

// pauses reports whether the outcome has paused its model or account.
func (o *outcome) pauses() bool { return o.floors() && o.verdict.Scope != throttle.ScopeNone }

func (o *outcome) floors() bool {
	return o.resp != nil && (o.verdict.Class == throttle.Busy || o.verdict.Class == throttle.Overloaded)
}

// floor is how long the vendor wants to be left alone, 0 where it doesn't say.
func (o *outcome) floor() time.Duration {
	if !o.floors() {
		return 0
	}
	return max(0, o.verdict.Wait)
}

// concerns reports whether the outcome's pause is about a candidate.
func (o *outcome) concerns(c candidate) bool {
	return o.pauses() && (o.verdict.Scope == throttle.ScopeKey || o.sent.backup == c.backup)
}

// isTooLate reports whether the request will have ended, or its signature will
// be too old.
func (w *trip) isTooLate(due time.Time) bool {
	if deadline, ok := w.req.Context().Deadline(); ok && !due.Before(deadline) {
		return true
	}
	latest := w.latest()
	return !latest.IsZero() && due.After(latest)
}

// sleepUntil returns when the time has come or the request has ended, with the
// error of its end.
func (w *trip) sleepUntil(due time.Time) error {
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.req.Context().Done():
	case <-cancelOf(w.req):
	}
	return over(w.req)
}
