package pause

import (
	"fmt"
	"time"
)

// Bounds of a zero Policy.
const (
	// DefaultWait is the pause when the vendor names no time.
	DefaultWait = 30 * time.Second
	// DefaultMax is the longest pause that a vendor can cause.
	DefaultMax = 5 * time.Minute
	// MaxRamp is the longest ramp that a zero Policy.Ramp gives.
	MaxRamp = 10 * time.Second
)

// A Policy bounds what a vendor's "slow down" may do. Its zero value is
// usable: 30 s if the vendor names no time, at most 5 min, and a ramp as long
// as the pause but at most 10 s.
type Policy struct {
	// Default is the pause when the vendor names no time, or one that has
	// passed. 0: DefaultWait, or Max if that is shorter.
	Default time.Duration
	// Max is the longest pause, whatever the vendor says. 0: DefaultMax.
	Max time.Duration
	// Ramp is how long traffic takes to come back after a pause. 0: as long as
	// the pause, at most MaxRamp; negative: none.
	Ramp time.Duration
}

// Validate reports the first field that is out of range.
func (p Policy) Validate() error {
	if p.Default < 0 {
		return fmt.Errorf("Default is %v, want 0 or more", p.Default)
	}
	if p.Max < 0 {
		return fmt.Errorf("Max is %v, want 0 or more", p.Max)
	}
	if p.Max > 0 && p.Default > p.Max {
		return fmt.Errorf("Default is %v, more than Max, %v", p.Default, p.Max)
	}
	return nil
}

// WithDefaults returns the policy with every zero field but Ramp filled in.
func (p Policy) WithDefaults() Policy {
	if p.Max == 0 {
		p.Max = max(DefaultMax, p.Default)
	}
	if p.Default == 0 {
		p.Default = min(DefaultWait, p.Max)
	}
	return p
}

// Length returns how long to pause for a vendor's figure: Default where the
// vendor named none (0 or less), never more than Max.
func (p Policy) Length(vendor time.Duration) time.Duration {
	p = p.WithDefaults()
	if vendor <= 0 {
		return p.Default
	}
	return min(vendor, p.Max)
}

// RampFor returns the length of the ramp after a pause of the given length.
func (p Policy) RampFor(pause time.Duration) time.Duration {
	switch {
	case p.Ramp < 0:
		return 0
	case p.Ramp > 0:
		return p.Ramp
	}
	return min(pause, MaxRamp)
}
