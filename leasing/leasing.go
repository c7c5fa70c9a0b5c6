// Package leasing describes how units are claimed ahead in chunks and spent
// without a round trip.
//
// The policy's shape is settled; the throttle doesn't grant leases yet, and
// refuses a configuration that asks for them.
package leasing

import (
	"fmt"
	"time"
)

// A Policy says how much a process claims ahead. The zero value is off.
type Policy struct {
	// Chunk is the size of a lease in calls; for other units it is Chunk times
	// the budget's recent mean cost. 0 is off.
	Chunk int64
	// MaxAge is how long a lease may be trusted. 0: one second, at most a
	// tenth of the shortest window.
	MaxAge time.Duration

	auto bool
}

// Auto returns a policy whose chunks follow the demand of the process.
func Auto() Policy { return Policy{auto: true} }

// Off reports whether the policy asks for no leases.
func (p Policy) Off() bool { return p == Policy{} }

// Validate reports the first field that is out of range.
func (p Policy) Validate() error {
	if p.Chunk < 0 {
		return fmt.Errorf("Chunk is %d, want 0 or more", p.Chunk)
	}
	if p.MaxAge < 0 {
		return fmt.Errorf("MaxAge is %v, want 0 or more", p.MaxAge)
	}
	if p.Chunk == 0 && p.MaxAge != 0 && !p.auto {
		return fmt.Errorf("MaxAge is set without a Chunk")
	}
	return nil
}
