package probe

import (
	"context"
	"fmt"
	"time"
)

// DefaultEvery is the interval between probes of a zero Policy.
const DefaultEvery = 5 * time.Minute

// maxTimeout is the longest default Timeout.
const maxTimeout = 30 * time.Second

// A Policy says how a refused key is tried again. Its zero value is usable:
// one caller's request becomes the probe every five minutes.
type Policy struct {
	// Every is the least time between the beginnings of two probes of a key,
	// for the whole fleet. 0: DefaultEvery.
	Every time.Duration
	// Timeout is how long Send may take; at most Every. 0: 30 s, or Every if
	// that is shorter. A caller's request that is the probe takes as long as
	// its caller allows: the next probe doesn't wait for its answer.
	Timeout time.Duration
	// Send, if set, makes an own cheap request instead of a caller's being the
	// probe. key is the fingerprint of the refused key. The first request that
	// goes through a throttle with ctx is the probe, and ctx ends after
	// Timeout. Where no request goes through the throttle, a nil error means
	// that the vendor accepted the key.
	Send func(ctx context.Context, key string) error
}

// Validate reports the first field that is out of range.
func (p Policy) Validate() error {
	if p.Every < 0 {
		return fmt.Errorf("Every is %v, want 0 or more", p.Every)
	}
	if p.Timeout < 0 {
		return fmt.Errorf("Timeout is %v, want 0 or more", p.Timeout)
	}
	if d := p.WithDefaults(); d.Timeout > d.Every {
		return fmt.Errorf("Timeout is %v, more than Every, %v", d.Timeout, d.Every)
	}
	return nil
}

// WithDefaults returns the policy with Every and Timeout filled in.
func (p Policy) WithDefaults() Policy {
	if p.Every == 0 {
		p.Every = DefaultEvery
	}
	if p.Timeout == 0 {
		p.Timeout = min(maxTimeout, p.Every)
	}
	return p
}
