package throttle

import (
	"math"
	"slices"
	"sort"
)

// The sliding log counts every unit for at least per, in slots of a thousandth
// of it: a unit counts from its charge until its slot has ended and then per
// has passed. log.go and the log_ functions of the script are the same
// arithmetic in the same order; change both.

// A logSlot is what was charged in one slot of time.
type logSlot struct{ number, units float64 }

// logSlots is how many slots a window has at most.
const logSlots = 1000

// logWidth is the length of a slot in microseconds.
func logWidth(per float64) float64 { return math.Ceil(per / logSlots) }

// logSpan is for how many slots after its own a unit counts.
func logSpan(per float64) float64 { return math.Ceil(per / logWidth(per)) }

// logAdvance forgets the slots that no longer count. A clock that went
// backwards brings none back.
func logAdvance(c *counter, s *spec, now float64) {
	oldest := math.Floor(now/logWidth(s.per)) - logSpan(s.per)
	n := 0
	for n < len(c.slots) && c.slots[n].number < oldest {
		c.current -= c.slots[n].units
		n++
	}
	c.slots = c.slots[n:]
}

// logRoomAt is the first instant at which need units have gone through under
// amount, if they go as soon as they fit and nobody else goes.
func logRoomAt(c *counter, s *spec, now, amount, need float64) float64 {
	width, span := logWidth(s.per), logSpan(s.per)
	rounds := math.Ceil(need/amount) - 1
	need -= float64(rounds * amount)
	missing := c.current + need - amount
	at := now
	for i := 0; missing > 0 && i < len(c.slots); i++ {
		missing -= c.slots[i].units
		at = float64((c.slots[i].number + span + 1) * width)
	}
	if rounds == 0 {
		return max(now, at)
	}
	// Each further round waits until the one before it has stopped counting.
	return float64((math.Floor(max(now, at)/width) + float64(rounds*(span+1))) * width)
}

// logTake charges units in the slot of now, or in the last one where the clock
// went backwards.
func logTake(c *counter, s *spec, now, units float64) {
	number := math.Floor(now / logWidth(s.per))
	if units = min(units, usedCap-c.current); units <= 0 {
		return
	}
	c.current += units
	if n := len(c.slots); n > 0 && c.slots[n-1].number >= number {
		c.slots[n-1].units += units
		return
	}
	c.slots = append(c.slots, logSlot{number, units})
}

// logSettle corrects what a call at the instant at was charged: in its slot
// while that counts; an excess that is too late for it goes to the current
// slot.
func logSettle(c *counter, s *spec, now, at, delta float64) {
	number := math.Floor(at / logWidth(s.per))
	i := sort.Search(len(c.slots), func(i int) bool { return c.slots[i].number >= number })
	switch {
	case i < len(c.slots) && c.slots[i].number == number:
		delta = min(max(delta, -c.slots[i].units), usedCap-c.current)
		c.slots[i].units += delta
		c.current += delta
		if c.slots[i].units == 0 {
			c.slots = slices.Delete(c.slots, i, i+1)
		}
	case delta > 0:
		logTake(c, s, now, delta)
	}
}

// logRestore raises a slot to what a process knew of it. A slot that isn't
// there is put in its place while it counts.
func logRestore(c *counter, s *spec, now float64, known logSlot) {
	here := math.Floor(now / logWidth(s.per))
	if known.number < here-logSpan(s.per) || known.number > here {
		return
	}
	i := sort.Search(len(c.slots), func(i int) bool { return c.slots[i].number >= known.number })
	if i == len(c.slots) || c.slots[i].number != known.number {
		c.slots = slices.Insert(c.slots, i, logSlot{number: known.number})
	}
	more := min(max(0, known.units-c.slots[i].units), usedCap-c.current)
	c.slots[i].units += more
	c.current += more
}
