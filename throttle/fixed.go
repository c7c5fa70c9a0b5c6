package throttle

import "math"

// The fixed window counts from window start to window start and remembers
// nothing of the one before. It shares the sliding window's counter, without
// the previous window. fixed.go and the fixed_ functions of the script are the
// same arithmetic in the same order; change both.

// fixedAdvance moves the counter to the window that now is in; never back.
func fixedAdvance(c *counter, s *spec, now float64) {
	if index := math.Floor((now - s.offset) / s.per); index > c.index {
		c.index, c.current = index, 0
	}
}

// fixedFit is how many calls of the given cost fit under amount, behind what
// waiting calls need.
func fixedFit(c *counter, amount, ahead, cost float64) float64 {
	return max(0, math.Floor((amount-c.current-ahead)/cost))
}

// fixedRoomAt is the first instant at which need units have gone through under
// amount, if they go as soon as they fit and nobody else goes.
func fixedRoomAt(c *counter, s *spec, now, amount, need float64) float64 {
	free := max(0, amount-c.current)
	if need <= free {
		return now
	}
	windows := math.Ceil((need - free) / amount)
	return windowStart(c, s) + float64(windows*s.per)
}

// fixedSettle corrects what a call at the instant at was charged: in its
// window, or for an excess in the current one.
func fixedSettle(c *counter, s *spec, at, delta float64) {
	if math.Floor((at-s.offset)/s.per) >= c.index || delta > 0 {
		c.current = min(usedCap, max(0, c.current+delta))
	}
}
