package throttle

import "time"

// A Report is what a vendor's answer says of one of the vendor's limits. A
// field that it doesn't say is Unsaid.
type Report struct {
	// Unit is what the limit counts.
	Unit Unit
	// Per is its window; 0: not said, which may be any.
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
// logged once, and told as an event.
//
// Reports apply to the limits of the permit's budget and account with the same
// unit and window; one whose window isn't said applies where a single limit has
// its unit. It does nothing after the permit's end.
func (p Permit) Reported(reports ...Report) {
	if info, ok := p.look(); ok {
		info.q.reported(reports)
	}
}

// reported takes reports over, to be said with the next claim.
func (q *queue) reported(reports []Report) {
	q.learnLimits(reports)
	if q.retired.Load() {
		if q = q.a.queue(q.id); q == nil {
			return
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range reports {
		if i := q.limitOf(r); i >= 0 {
			q.compareLocked(i, r)
			q.floorLocked(i, r)
		}
	}
}

// limitOf is the limit that a report is about; -1: none, or it can't be told.
func (q *queue) limitOf(r Report) int {
	found := -1
	for i := range q.limits {
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
func (q *queue) floorLocked(i int, r Report) {
	if r.Remaining < 0 {
		return
	}
	s := &q.limits[i]
	size := s.amount
	if s.isBucket() {
		size = s.burst
	}
	least := size - saturated(r.Remaining) - saturated(max(0, r.Coarse))
	if least <= 0 {
		return
	}
	if q.floors == nil {
		q.floors = make([]float64, len(q.limits))
	}
	q.floors[i] = max(q.floors[i], least)
}

// compareLocked tells once of a limit that differs from the configured one.
func (q *queue) compareLocked(i int, r Report) {
	if q.budget.Learn && i < q.own || r.Limit < 1 || float64(r.Limit) == q.limits[i].amount {
		return
	}
	if q.differs == nil {
		q.differs = map[int]int64{}
	}
	if q.differs[i] == r.Limit {
		return
	}
	q.differs[i] = r.Limit
	q.t.tellLimit(q, q.limits[i].text, r.Limit)
}
