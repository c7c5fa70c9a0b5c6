package throttle

import "time"

// A shadow is what a queue knows of its records in the store: how much of each
// limit was used when it last heard. It is what the process has to say if the
// store loses its memory. It is guarded by q.mu.
type shadow struct {
	counts []counter // by limit
	epochs [2]string // of the budget's record and the account's; "": unknown
	now    float64   // the store's time of the last answer
	at     time.Time // and when that came
}

// clock estimates the store's time.
func (s *shadow) clock(now time.Time) float64 {
	return s.now + max(0, float64(now.Sub(s.at).Microseconds()))
}

// heard takes over what an answer says of the limits' use.
func (s *shadow) heard(limits []spec, c *claim, ans *answer, now time.Time) {
	if s.counts == nil {
		s.counts = make([]counter, len(limits))
		for i := range s.counts {
			s.counts[i].label = limits[i].label
		}
	}
	s.now, s.at = ans.now, now
	for i, epoch := range ans.epochs {
		if epoch != "" || c.knows[i] == "" {
			s.epochs[i] = epoch
		}
	}
	for i := range s.counts {
		l, k := &limits[i], &s.counts[i]
		if l.inFlight() {
			continue // every claim states what it holds
		}
		if !l.isBucket() {
			// An answer doesn't tell the age of what counts: all may be new.
			*k = counter{label: l.label}
		}
		k.advance(l, ans.now)
		switch more := ans.used[i] - k.used(l, ans.now); {
		case more > 0:
			k.take(l, ans.now, more)
		case more < 0:
			k.settle(l, ans.now, ans.now, more)
		}
	}
}

// matters reports whether anything that is known of a limit still counts.
func (s *shadow) matters(limits []spec, from, to int, now float64) bool {
	for i := from; i < to && s.counts != nil; i++ {
		if s.counts[i].expires(&limits[i], now) > now {
			return true
		}
	}
	return false
}

// knowsLocked is what the next claim says of the epochs of its records: those
// about which this process has something to say.
func (q *queue) knowsLocked(now time.Time) (knows [2]string) {
	s := &q.shadow
	if s.epochs == [2]string{} {
		return
	}
	at := s.clock(now)
	if q.pause.until.After(now) || q.deniesLocked(now) || q.running > 0 || s.matters(q.limits, 0, q.own, at) {
		knows[0] = s.epochs[0]
	}
	if q.a.pauseNow().until.After(now) || s.matters(q.limits, q.own, len(q.limits), at) {
		knows[1] = s.epochs[1]
	}
	return knows
}

// restoration is what this process knows of records that the store has lost.
func (q *queue) restoration() *restoration {
	now := time.Now()
	q.mu.Lock()
	defer q.mu.Unlock()
	at := q.shadow.clock(now)
	r := &restoration{}
	for i := range q.shadow.counts {
		c := q.shadow.counts[i].clone()
		c.advance(&q.limits[i], at)
		r.counts = append(r.counts, c)
	}
	for i, s := range []shut{q.pause, q.a.pauseNow()} {
		r.pauses[i] = closure{left: microsOf(s.left(now)), ramp: s.ramp, class: s.verdict.Class}
	}
	for id, d := range q.denied {
		if left := d.at.Sub(now); left > 0 {
			r.denied = append(r.denied, modelDenial{id, microsOf(left)})
		}
	}
	return r
}

// lost tells the store what this process knows of a record that it lost.
func (q *queue) lost(record int, epoch string) {
	q.mu.Lock()
	if q.knowsLocked(time.Now())[record] != "" {
		q.news[record] = epoch
	}
	if q.shadow.epochs[record] != epoch {
		q.tellKeysLocked()
	}
	q.kick()
}

// newsLocked reports whether a record is another one than was last heard of. A
// claim that was under way may have found that itself.
func (q *queue) newsLocked() bool {
	for i, epoch := range q.news {
		if epoch != "" && epoch != q.shadow.epochs[i] {
			return true
		}
	}
	return false
}

// tellLocked has the next claim made at once if this process knows of anything
// that keeps calls from being claimed for: the store may have lost it.
func (q *queue) tellLocked(now time.Time) {
	q.errand = q.errand || q.running > 0 || q.pause.until.After(now) || q.a.pauseNow().until.After(now) || q.deniesLocked(now)
	q.tellKeysLocked()
}

func (q *queue) tellKeysLocked() {
	if q.a.anyRefused() {
		q.errand, q.tells = true, true
	}
}

// deniesLocked reports whether a model is denied.
func (q *queue) deniesLocked(now time.Time) bool {
	for _, d := range q.denied {
		if d.at.After(now) {
			return true
		}
	}
	return false
}

func (s *shadow) clone() shadow {
	c := *s
	c.counts = nil
	for i := range s.counts {
		c.counts = append(c.counts, s.counts[i].clone())
	}
	return c
}

// inheritLocked takes over what another queue of the same records knew, limit by
// limit: those with other labels are other counters.
func (q *queue) inheritLocked(known *shadow, limits []spec) {
	if known.counts == nil || q.shadow.counts != nil {
		return
	}
	q.shadow = shadow{epochs: known.epochs, now: known.now, at: known.at, counts: make([]counter, len(q.limits))}
	for i := range q.limits {
		q.shadow.counts[i].label = q.limits[i].label
		for j := range limits {
			if limits[j].label == q.limits[i].label && (j < len(limits)-(len(q.limits)-q.own)) == (i < q.own) {
				q.shadow.counts[i] = known.counts[j]
			}
		}
	}
}
