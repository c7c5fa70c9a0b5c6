package throttle

import "context"

// A Status is what a throttle can say of itself.
type Status struct {
	// Waiting is how many calls wait in this process.
	Waiting int
	// Outage is whether the store is out of reach, and why.
	Outage bool
	Cause  error
}

// Status returns what this process knows: how many calls wait and whether the
// store is out of reach. What the store holds isn't read yet.
func (t *Throttle) Status(context.Context) (Status, error) {
	var s Status
	for _, q := range t.allQueues() {
		q.mu.Lock()
		s.Waiting += q.room.Len()
		q.mu.Unlock()
	}
	t.outage.mu.Lock()
	defer t.outage.mu.Unlock()
	s.Outage, s.Cause = !t.outage.since.IsZero(), t.outage.cause
	return s, nil
}
