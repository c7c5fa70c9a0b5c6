package throttle

import "time"

// An inFlight is what a queue knows of its calls that run, where a limit counts
// them. It is guarded by q.mu.
type inFlight struct {
	counts  bool    // a limit is on calls in flight
	running float64 // how many there are
	told    time.Time
	renew   *time.Timer // tells the store of them again
}

// heldEvery is how often the store is told of calls that run on.
const heldEvery = 10 * time.Second

// onRenew tells the store of the calls that still run, if no claim has.
func (q *queue) onRenew() {
	q.mu.Lock()
	if q.running > 0 && !q.t.closed.Load() {
		q.errand = q.errand || time.Since(q.told) >= heldEvery/2
		q.renew.Reset(heldEvery)
	}
	q.kick()
}

// runLocked counts calls in flight, and tells the store at once when one ends.
func (q *queue) runLocked(n float64) {
	if !q.counts {
		return
	}
	if q.running == 0 && n > 0 {
		q.renew.Reset(heldEvery)
	}
	q.running += n
	q.errand = q.errand || n < 0
}
