package throttle

import "time"

// An emptied is the last that the store said of a lane's calls for which there
// was no room. For emptyFor the same is said here of calls that need no less,
// without asking again. It is guarded by q.mu.
type emptied struct {
	asked time.Time // when the claim was made
	turn  time.Time // when there will be room, by the store's word
	limit int       // that was lacking
	need  float64   // of it
	gave  uint64    // how often room had been given back by then
}

// emptyFor is how long "there is no room" is believed: another process may give
// some back meanwhile.
const emptyFor = 10 * time.Millisecond

// noteEmptyLocked remembers that a call found no room. What calls in flight
// leave is not said ahead; and a store that needs no round trip is asked.
func (q *queue) noteEmptyLocked(a *ask, o outcome, b *batch, now time.Time) {
	if q.t.store.immediate() || q.turns != nil || o.code != deniedRoom || o.limit >= len(q.limits) || q.limits[o.limit].inFlight() {
		return
	}
	q.empties[a.lane] = emptied{
		asked: b.began, turn: now.Add(durationOf(o.wait)), limit: o.limit, need: a.need[o.limit], gave: b.gave,
	}
}

// emptyLocked denies a call for which there is no room by what the store said
// just now, unless it may wait for that, or room was given back from here.
func (q *queue) emptyLocked(a *ask, now time.Time) *DeniedError {
	x := &q.empties[a.lane]
	left := x.turn.Sub(now)
	if now.Sub(x.asked) >= emptyFor || x.gave != q.a.gave.Load() || a.need[x.limit] < x.need ||
		left <= 0 || float64(left.Microseconds()) <= a.patience(now) || a.mayProbe || a.holds != "" {
		return nil
	}
	e := a.denial(ErrBudget)
	e.Limit, e.RetryAfter = q.limits[x.limit].text, left
	return e
}

// gives notes that room was given back, or will be with the next claim.
func (a *account) gives() { a.gave.Add(1) }
