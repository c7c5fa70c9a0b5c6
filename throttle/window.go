package throttle

import "math"

// The sliding window estimates what was used over the last per microseconds
// from two counters: all of the current fixed window, and of the previous one
// the part that is still within reach, rounded up:
//
//	used = current + ceil(previous * (per - elapsed) / per)
//
// window.go and the window_ functions of the script are the same arithmetic in
// the same order; change both.

// windowAdvance moves the counter to the window that now is in. A clock that
// went backwards, after a failover say, doesn't rewind it.
func windowAdvance(c *counter, s *spec, now float64) {
	index := math.Floor((now - s.offset) / s.per)
	switch {
	case index <= c.index:
		return
	case index == c.index+1:
		c.previous = c.current
	default:
		c.previous = 0
	}
	c.index, c.current = index, 0
}

// windowStart is when the counter's current window began.
func windowStart(c *counter, s *spec) float64 { return float64(c.index*s.per) + s.offset }

// windowCarried is what the previous window still counts, elapsed microseconds
// into the current one.
func windowCarried(previous, elapsed, per float64) float64 {
	return math.Ceil(float64(previous*(per-elapsed)) / per)
}

// windowUsed is the estimate at now, which windowAdvance has seen.
func windowUsed(c *counter, s *spec, now float64) float64 {
	elapsed := max(0, now-windowStart(c, s))
	return c.current + windowCarried(c.previous, elapsed, s.per)
}

// windowFit is how many calls of the given cost fit under amount, behind what
// waiting calls need.
func windowFit(c *counter, s *spec, now, amount, ahead, cost float64) float64 {
	return max(0, math.Floor((amount-windowUsed(c, s, now)-ahead)/cost))
}

// windowRoomAt is the first instant at which cost units fit under amount at
// once, if ahead units of others go before them, one by one as soon as they
// fit, and nobody else goes.
func windowRoomAt(c *counter, s *spec, now, amount, ahead, cost float64) float64 {
	start, previous, current := windowStart(c, s), c.previous, c.current
	elapsed := max(0, now-start)
	older, old := -1.0, -1.0 // what the two windows before had
	for current+ahead+cost > amount {
		// Until its last microsecond a part of the previous window counts.
		has := current + max(0, min(ahead, amount-current-windowCarried(previous, s.per-1, s.per)))
		ahead -= has - current
		start, elapsed = start+s.per, 0
		// The pace soon settles to one or two windows that repeat: skip those.
		if has == older && ahead > 2*amount {
			n := math.Floor((ahead - 2*amount) / (old + has))
			ahead, start = ahead-float64(n*(old+has)), start+float64(2*n*s.per)
		}
		older, old = old, has
		previous, current = has, 0
	}
	return start + max(elapsed, windowElapsedFor(previous, amount-current-ahead-cost, s.per))
}

// windowElapsedFor is how far into a window the previous one has faded to at
// most spare units: exact, by testing the neighbours of the computed instant.
func windowElapsedFor(previous, spare, per float64) float64 {
	if previous <= spare {
		return 0
	}
	elapsed := math.Ceil(per - float64(spare*per)/previous)
	for elapsed > 0 && windowCarried(previous, elapsed-1, per) <= spare {
		elapsed--
	}
	for windowCarried(previous, elapsed, per) > spare {
		elapsed++
	}
	return elapsed
}

// windowSettle corrects what a call at the instant at was charged. A refund
// goes to the window that was charged, or nowhere once that is forgotten; an
// excess that is too late for its window goes to the current one.
func windowSettle(c *counter, s *spec, at, delta float64) {
	switch index := math.Floor((at - s.offset) / s.per); {
	case index >= c.index:
		c.current = min(usedCap, max(0, c.current+delta))
	case index == c.index-1:
		c.previous = min(usedCap, max(0, c.previous+delta))
	case delta > 0:
		c.current = min(usedCap, c.current+delta)
	}
}

// usedCap is where use saturates, whatever a vendor says that a call cost, so
// that sums stay exact integers.
const usedCap = 4e15
