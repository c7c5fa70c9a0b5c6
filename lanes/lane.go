package lanes

import (
	"context"
	"fmt"
	"time"
)

// A Lane is a priority class of callers. A lane is known by its name alone:
// Share and Wait are those of the lane of that name in the throttle's
// configuration, wherever else the value came from.
type Lane struct {
	// Name identifies the lane. The zero Lane, with an empty name, means
	// "not said": the context's lane, else the first configured one.
	Name string
	// Share is the part of every limit that the lane may draw, in (0, 1].
	// It is a hard ceiling on what everybody has used, not a reservation.
	Share float64
	// Wait is how long a call of the lane may wait for room before it is
	// refused: 0 is not at all, a negative value as long as the context allows.
	Wait time.Duration
}

// Live is for calls that somebody is waiting for: all of every limit, and up
// to five seconds in the waiting room.
var Live = Lane{Name: "live", Share: 1, Wait: 5 * time.Second}

// Background is for work that can come back later: 60 % of every limit, and
// refused at once when there is no room.
var Background = Lane{Name: "background", Share: 0.6, Wait: 0}

// Default returns the lanes that a throttle has when none are configured:
// Live, then Background.
func Default() []Lane { return []Lane{Live, Background} }

// Validate reports the first field of the lane that is out of range.
func (l Lane) Validate() error {
	if l.Name == "" {
		return fmt.Errorf("Name is empty")
	}
	// The negated form also refuses NaN.
	if !(l.Share > 0 && l.Share <= 1) {
		return fmt.Errorf("Share is %v, want more than 0 and at most 1", l.Share)
	}
	return nil
}

type contextKey struct{}

// With returns a context whose calls go to the lane named l.Name. A name that
// the throttle doesn't know is an error of Acquire.
func With(ctx context.Context, l Lane) context.Context {
	return context.WithValue(ctx, contextKey{}, l)
}

// From returns the lane that the context carries, and whether it carries one.
func From(ctx context.Context) (Lane, bool) {
	l, ok := ctx.Value(contextKey{}).(Lane)
	return l, ok
}
