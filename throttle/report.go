package throttle

import (
	"math"
	"time"
)

// A Report is what a vendor's answer says of one of the vendor's limits. A
// field that it doesn't say is Unsaid.
type Report struct {
	// Unit is what the limit counts.
	Unit Unit
	// Scope is whose limit it is: ScopeModel the budget's, ScopeKey the
	// account's where Config.Account has such a limit, else the budget's;
	// ScopeNone: either.
	Scope Scope
	// Per is its window; 0: not said. Then Limit tells which one it is.
	Per time.Duration
	// Limit is how many units fit, in units; at least 1, or Unsaid.
	Limit int64
	// Remaining is how many are left, in units; 0 or more, or Unsaid.
	Remaining int64
	// Coarse is by how much Remaining may be too low because the vendor rounds
	// it; 0: it is exact.
	Coarse int64
}

// Unsaid stands for a figure that a vendor doesn't give.
const Unsaid = -1

// Reported says what the vendor's answer reports of its limits. Where less is
// left by a report than the throttle counts, somebody else spends the same
// quota: the count is raised, in the whole fleet, with the next claim. It is
// never lowered by a report. A budget with Learn takes its limits from reports.
// Any other limit that differs from the configured one is
// logged once, and told as an event. In a dry run no count is raised: the vendor
// counts calls, too, that enforcement would have kept from it.
//
// Reports apply to the limits of the permit's budget and account with the same
// unit and window; one whose window isn't said applies where a single limit has
// its unit, and says what is left only where that has its size. It does nothing
// after the permit's end.
func (p Permit) Reported(reports ...Report) {
	if info, ok := p.look(); ok {
		info.q.reported(reports)
	}
}

// A vendorWord is what vendors have said of a queue's limits, by limit. It is
// guarded by q.mu.
type vendorWord struct {
	floors    []float64 // what is used at least, to be told; nil: nothing
	flooredAt time.Time // when that was said
	differs   map[int]int64
}

// reported takes reports over, to be said with the next claim.
func (q *queue) reported(reports []Report) {
	q.learnLimits(reports)
	if q.retired.Load() {
		if q = q.a.queue(q.id); q == nil {
			return
		}
	}
	now := time.Now()
	var news []func() // told without the lock: who hears it may call the throttle
	q.mu.Lock()
	for _, r := range reports {
		if i := q.limitOf(r); i >= 0 {
			if q.differsLocked(i, r) {
				news = append(news, func() { q.t.tellLimit(q, q.limits[i].text, r.Limit) })
			}
			if !q.dry { // there the vendor counts calls that enforcement would have kept from it
				q.floorLocked(i, r, now)
			}
		}
	}
	if q.floors != nil && len(q.settles) == 0 {
		q.flush.Reset(settleWait) // if no claim takes it along
	}
	q.mu.Unlock()
	for _, tell := range news {
		tell()
	}
}

// limitOf is the limit that a report is about; -1: none, or it can't be told.
func (q *queue) limitOf(r Report) int {
	switch r.Scope {
	case ScopeModel:
		return q.limitAmong(r, 0, q.own)
	case ScopeKey:
		if i := q.limitAmong(r, q.own, len(q.limits)); i >= 0 {
			return i
		}
		return q.limitAmong(r, 0, q.own)
	}
	return q.limitAmong(r, 0, len(q.limits))
}

func (q *queue) limitAmong(r Report, from, to int) int {
	found := -1
	for i := from; i < to; i++ {
		s := &q.limits[i]
		if s.unit != r.Unit || r.Per > 0 && s.per != microsOf(r.Per) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// floorLocked notes how much is used of a limit at least. What the vendor has
// of another size than the limit is taken as it says: as much is left here at
// most as there.
func (q *queue) floorLocked(i int, r Report, now time.Time) {
	s := &q.limits[i]
	size := s.size()
	if r.Remaining < 0 || r.Per == 0 && float64(r.Limit) != s.amount && float64(r.Limit) != size {
		return
	}
	least := size - saturated(r.Remaining) - saturated(max(0, r.Coarse))
	if least <= q.knownLocked(i, now) {
		return
	}
	if q.floors == nil {
		q.floors = make([]float64, len(q.limits))
	}
	if before := q.flooredAt; !before.IsZero() {
		q.ageLocked(now.Sub(before))
	}
	q.floors[i], q.flooredAt = max(q.floors[i], least), now
}

// knownLocked is what is used of a limit for all that is known here: a floor
// below it is no news. 0: nothing is known.
func (q *queue) knownLocked(i int, now time.Time) float64 {
	if q.shadow.counts == nil || q.limits[i].inFlight() {
		return 0
	}
	c := q.shadow.counts[i].clone()
	at := q.shadow.clock(now)
	c.advance(&q.limits[i], at)
	return c.used(&q.limits[i], at)
}

// takeFloorsLocked returns the floors to be told, as old as they are by now:
// what a vendor counted then has partly been forgotten there since.
func (q *queue) takeFloorsLocked(now time.Time) []float64 {
	if q.floors == nil {
		return nil
	}
	q.ageLocked(now.Sub(q.flooredAt))
	floors := q.floors
	q.floors, q.flooredAt = nil, time.Time{}
	return floors
}

func (q *queue) ageLocked(age time.Duration) {
	for i := range q.floors {
		if s := &q.limits[i]; s.per > 0 {
			q.floors[i] = max(0, math.Ceil(q.floors[i]-s.amount*float64(age.Microseconds())/s.per))
		}
	}
}

// differsLocked reports, once for each limit, that the vendor has another one
// than is configured.
func (q *queue) differsLocked(i int, r Report) bool {
	if q.budget.Learn && i < q.own || r.Limit < 1 || float64(r.Limit) == q.limits[i].amount {
		return false
	}
	if q.differs == nil {
		q.differs = map[int]int64{}
	}
	_, told := q.differs[i]
	q.differs[i] = r.Limit
	return !told
}
