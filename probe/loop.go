package probe

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// Loop tries until a try reports that the key is open, or ctx ends. A try
// returns how long until the next probe may begin; Loop waits that long and a
// little more, at most a twentieth of every, so that the processes of a fleet
// don't all ask at the same instant. After an error, where nobody knows when
// the next may begin, it backs off exponentially, up to every.
//
// It runs in the caller's goroutine.
func Loop(ctx context.Context, every time.Duration, try func(context.Context) (next time.Duration, open bool, err error)) {
	failing := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(min(time.Second, every)),
		backoff.WithMaxInterval(every),
		backoff.WithMaxElapsedTime(0),
	)
	jitter := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(every/40),
		backoff.WithMultiplier(1),
		backoff.WithRandomizationFactor(1),
		backoff.WithMaxElapsedTime(0),
	)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if ctx.Err() != nil {
			return // both were ready: a probe begun now would be lost
		}
		next, open, err := try(ctx)
		switch {
		case open:
			return
		case err != nil:
			// Its own maximum is that of the mean, not of the jitter around it.
			timer.Reset(min(every, failing.NextBackOff()))
		default:
			failing.Reset()
			timer.Reset(max(0, next) + jitter.NextBackOff())
		}
	}
}
