package throttle

import "math"

// A token bucket holds whole units and the instant at which it held them; what
// has flowed in since is worked out when asked. The instant moves in steps of
// a whole per, in which exactly amount units flow, so that nothing is lost to
// rounding however often the bucket is asked:
//
//	level(t) = min(burst, level + floor((t - at) * amount / per))
//
// bucket.go and the bucket_ functions of the script are the same arithmetic in
// the same order; change both.
type bucketLevel struct {
	level  float64
	at     float64 // when level was reached
	full   float64 // when the bucket was last seen full
	amount float64 // the rate at which it was filling; 0: never used
}

// levelFloor keeps debts within what integers and a float64 hold exactly.
const levelFloor = -4e15

// bucketFlow is how many units flow in during the given microseconds: amount in
// each whole per, so that it says the same before and after the instant has
// moved, also where the product of all of it would be rounded.
func bucketFlow(elapsed, amount, per float64) float64 {
	whole := math.Floor(elapsed / per)
	rest := elapsed - float64(whole*per)
	return float64(whole*amount) + math.Floor(float64(rest*amount)/per)
}

// bucketAdvance brings the bucket to now: full if it is new, at the old rate
// up to now if the rate has changed.
func bucketAdvance(b *bucketLevel, now, amount, burst, per float64) {
	if b.amount == 0 {
		*b = bucketLevel{burst, now, now, amount}
		return
	}
	elapsed := max(0, now-b.at)
	if b.amount != amount {
		b.level += bucketFlow(elapsed, b.amount, per)
		begun := bucketBegun(elapsed, b.amount, amount, per)
		b.at, b.amount, elapsed = max(now, b.at)-begun, amount, begun
	}
	if b.level+bucketFlow(elapsed, amount, per) >= burst {
		b.level, b.at, b.full = burst, max(now, b.at), max(now, b.at)
		return
	}
	whole := math.Floor(elapsed / per)
	b.level += float64(whole * amount)
	b.at += float64(whole * per)
}

// bucketBegun is how long, at a new rate, a bucket would have been filling what
// has flowed of the unit that isn't whole yet. Without it a bucket that two
// processes fill at different rates, each by its own configuration, would lose a
// part with every change, and never fill.
func bucketBegun(elapsed, amount, next, per float64) float64 {
	part := float64((elapsed - float64(math.Floor(elapsed/per)*per)) * amount)
	part -= float64(math.Floor(part/per) * per)
	return math.Floor(min(max(0, part), per-1) / next)
}

// bucketHas is the level at now, which bucketAdvance has seen.
func bucketHas(b *bucketLevel, now, per float64) float64 {
	return b.level + bucketFlow(max(0, now-b.at), b.amount, per)
}

// bucketRoomAt is the first instant at which need units have flowed out, if
// they flow as soon as they are there and nobody else draws. need may exceed
// the burst: it is what a queue needs together.
func bucketRoomAt(b *bucketLevel, now, per, need float64) float64 {
	if need <= bucketHas(b, now, per) {
		return now
	}
	missing := need - b.level
	elapsed := math.Ceil(float64(missing*per) / b.amount)
	if elapsed >= maxWait {
		return now + maxWait
	}
	for elapsed > 0 && bucketFlow(elapsed-1, b.amount, per) >= missing {
		elapsed--
	}
	for bucketFlow(elapsed, b.amount, per) < missing {
		elapsed++
	}
	return max(now, b.at+elapsed)
}

// bucketTake draws units, which may leave a debt, no deeper than floor. What
// has flowed in since b.at counts: b.level alone is older than now.
func bucketTake(b *bucketLevel, now, per, units, floor float64) {
	b.level -= units
	bucketForgive(b, now, per, floor)
}

// bucketForgive raises a level that is below floor at now.
func bucketForgive(b *bucketLevel, now, per, floor float64) {
	b.level += max(0, floor-bucketHas(b, now, per))
}

// bucketSettle corrects what a call at the instant at was charged. A bucket
// that has been full since has forgotten the charge, so it takes no refund.
func bucketSettle(b *bucketLevel, now, per, at, delta, burst, floor float64) {
	switch {
	case delta > 0:
		bucketTake(b, now, per, delta, floor)
	case at >= b.full:
		b.level -= delta
		bucketAdvance(b, now, b.amount, burst, per) // it may be full by that
	}
}

// shareFloor is the deepest debt of a share's level: as far below its burst as
// the whole bucket is deep, so that a lane is held back by what was used while
// the bucket ran from full to empty, and not by all of history.
func shareFloor(burst, shareBurst float64) float64 { return shareBurst - burst }
