package throttle

import "math"

// A record is the state that one budget, or one account as a whole, keeps in
// a store. Instants are the store's microseconds since the epoch.
type record struct {
	epoch  string  // random, of this life of the record; "": it is new
	until  float64 // end of the pause; 0: none
	ramp   float64 // length of the ramp that follows it
	used   float64 // calls admitted since the pause ended
	class  Class   // what began it
	counts []counter
	denied map[modelID]float64 // models denied to the account, until when
	slots  []slot              // the last claims of the processes
	line   []ticket            // of those who wait for room in its limits, or for their place in its ramp
}

// A slot is the last claim of a process that changed the budget: what it
// charged, and the answer, so that the same claim arriving again changes
// nothing.
type slot struct {
	process string
	number  float64
	at      float64
	charged []float64 // by limit of that claim
	tenants []tenantSpent
	answer  *answer // nil: too long to keep
}

// slotKept is how long, in microseconds, a slot is kept: longer than a command
// can wander about in a client and a network.
const slotKept = 600 * 1e6

// Where many short-lived processes come and go, slots are kept for less long, in
// microseconds, and the answers in them never longer than a claim can be asked
// again.
const (
	slotMany       = 64
	slotKeptOfMany = 60 * 1e6
	slotAnswerKept = 10 * 1e6
)

// slotAnswer is how many outcomes an answer has at most that is kept.
const slotAnswer = 16

// A keyRecord is the state of one credential.
type keyRecord struct {
	gen     float64 // raised by every change between open and refused
	refused bool
	class   Class
	next    float64 // no probe begins earlier
	probe   string  // the uuid of the last probe begun; "": none since the refusal
	began   float64 // when it began
}

// keyKept is how long a key's record outlives its next probe, in
// microseconds. Forgetting a refusal would let everybody send at once, so it
// is long.
const keyKept = 7 * 24 * 3600 * 1e6

// counterOf returns the record's counter for a limit, a new one if need be.
func (r *record) counterOf(s *spec) *counter {
	for i := range r.counts {
		if r.counts[i].label == s.label {
			return &r.counts[i]
		}
	}
	r.counts = append(r.counts, counter{label: s.label})
	return &r.counts[len(r.counts)-1]
}

// advance brings a counter to now, with a level for every share that the
// limit's lanes have.
func (c *counter) advance(s *spec, now float64) {
	switch s.algorithm {
	case SlidingWindow:
		windowAdvance(c, s, now)
		return
	case FixedWindow:
		fixedAdvance(c, s, now)
		return
	case SlidingLog:
		logAdvance(c, s, now)
		return
	case held:
		heldAdvance(c, now)
		return
	}
	bucketAdvance(&c.bucket, now, s.amount, s.burst, s.per)
	for i := range s.ceilings {
		if l := &s.ceilings[i]; l.share < whole {
			level := &c.shareOf(l.share).bucketLevel
			bucketAdvance(level, now, l.amount, l.burst, s.per)
			bucketForgive(level, now, s.per, shareFloor(s.burst, l.burst)) // of a greater limit
		}
	}
}

func (c *counter) shareOf(share float64) *shareLevel {
	for i := range c.shares {
		if c.shares[i].share == share {
			return &c.shares[i]
		}
	}
	c.shares = append(c.shares, shareLevel{share: share})
	return &c.shares[len(c.shares)-1]
}

// fit is how many calls of the given cost fit in a lane, behind what waiting
// calls need: their need counts as use.
func (c *counter) fit(s *spec, lane int, now, ahead, cost float64) float64 {
	l := &s.ceilings[lane]
	switch s.algorithm {
	case SlidingWindow:
		return windowFit(c, s, now, l.amount, ahead, cost)
	case FixedWindow, SlidingLog, held: // they count what is in current
		return fixedFit(c, l.amount, ahead, cost)
	}
	n := math.Floor((bucketHas(&c.bucket, now, s.per) - ahead) / cost)
	if l.share < whole {
		level := &c.shareOf(l.share).bucketLevel
		n = min(n, math.Floor((bucketHas(level, now, s.per)-ahead)/cost))
	}
	return max(0, n)
}

// roomAt is when need units have gone through in a lane.
func (c *counter) roomAt(s *spec, lane int, now, ahead, cost float64) float64 {
	l := &s.ceilings[lane]
	at, need := 0.0, ahead+cost
	switch s.algorithm {
	case SlidingWindow:
		at = windowRoomAt(c, s, now, l.amount, ahead, cost)
	case FixedWindow:
		at = fixedRoomAt(c, s, now, l.amount, need)
	case SlidingLog:
		at = logRoomAt(c, s, now, l.amount, need)
	default:
		at = bucketRoomAt(&c.bucket, now, s.per, need)
		if l.share < whole {
			at = max(at, bucketRoomAt(&c.shareOf(l.share).bucketLevel, now, s.per, need))
		}
	}
	return min(at, now+maxWait)
}

// take charges units, for everybody's ceiling.
func (c *counter) take(s *spec, now, units float64) {
	switch s.algorithm {
	case SlidingWindow, FixedWindow:
		c.current += units
		return
	case SlidingLog:
		logTake(c, s, now, units)
		return
	}
	bucketTake(&c.bucket, now, s.per, units, levelFloor)
	for i := range s.ceilings {
		if l := &s.ceilings[i]; l.share < whole && firstOfShare(s, i) {
			bucketTake(&c.shareOf(l.share).bucketLevel, now, s.per, units, shareFloor(s.burst, l.burst))
		}
	}
}

// settle corrects a charge made at the instant at.
func (c *counter) settle(s *spec, now, at, delta float64) {
	switch s.algorithm {
	case SlidingWindow:
		windowSettle(c, s, at, delta)
		return
	case FixedWindow:
		fixedSettle(c, s, at, delta)
		return
	case SlidingLog:
		logSettle(c, s, now, at, delta)
		return
	case held:
		return // its queue states what it holds
	}
	bucketSettle(&c.bucket, now, s.per, at, delta, s.burst, levelFloor)
	for i := range s.ceilings {
		if l := &s.ceilings[i]; l.share < whole && firstOfShare(s, i) {
			bucketSettle(&c.shareOf(l.share).bucketLevel, now, s.per, at, delta, l.burst, shareFloor(s.burst, l.burst))
		}
	}
}

// expires is when the counter stops mattering, in the store's microseconds.
func (c *counter) expires(s *spec, now float64) float64 {
	switch s.algorithm {
	case SlidingWindow:
		return windowStart(c, s) + 2*s.per
	case FixedWindow:
		return windowStart(c, s) + s.per
	case SlidingLog:
		if len(c.slots) == 0 {
			return 0
		}
		return float64((c.slots[len(c.slots)-1].number + logSpan(s.per) + 1) * logWidth(s.per))
	case held:
		last := 0.0
		for _, h := range c.holders {
			last = max(last, h.until)
		}
		return last
	}
	at := bucketRoomAt(&c.bucket, now, s.per, s.burst)
	for i := range s.ceilings {
		if l := &s.ceilings[i]; l.share < whole {
			at = max(at, bucketRoomAt(&c.shareOf(l.share).bucketLevel, now, s.per, l.burst))
		}
	}
	return at
}

// firstOfShare reports whether no earlier lane has the share of lane i: lanes
// of one share have one level.
func firstOfShare(s *spec, i int) bool {
	for _, l := range s.ceilings[:i] {
		if l.share == s.ceilings[i].share {
			return false
		}
	}
	return true
}

// used is what counts against the limit at now.
func (c *counter) used(s *spec, now float64) float64 {
	switch s.algorithm {
	case SlidingWindow:
		return windowUsed(c, s, now)
	case FixedWindow, SlidingLog, held:
		return c.current
	}
	return s.burst - bucketHas(&c.bucket, now, s.per)
}
