package throttle

import "math"

// The ramp after a pause: the k-th call, from 0, leaves no earlier than
//
//	end + ramp * sqrt(2k / K),  K = rate * ramp
//
// where rate is how many calls like it the limits let through in a
// microsecond. ramp.go and the ramp_ functions of the script are the same
// arithmetic in the same order; change both.

// rampOffset is how long after the end the k-th call leaves.
func rampOffset(ramp, rate, k float64) float64 {
	if ramp <= 0 || k <= 0 || rate <= 0 {
		return 0
	}
	return math.Ceil(float64(ramp * math.Sqrt(float64(2*k)/float64(rate*ramp))))
}

// rampMost is how many calls a ramp counts: from there on it holds nobody back.
const rampMost = 1 << 52

// rampFit is how many calls may have left, elapsed microseconds after the end:
// the largest k whose offset has passed, plus one.
func rampFit(ramp, rate, elapsed float64) float64 {
	x := elapsed / ramp
	k := math.Floor(float64(float64(rate*ramp)*float64(x*x)) / 2)
	if k >= rampMost {
		return math.Inf(1) // counting by one would go nowhere up there
	}
	for rampOffset(ramp, rate, k+1) <= elapsed {
		k++
	}
	for k > 0 && rampOffset(ramp, rate, k) > elapsed {
		k--
	}
	return k + 1
}

// fit is how many calls the pause and its ramp let through at now, behind
// ahead waiting ones. Without a rate, where nothing limits the calls, the ramp
// has no measure and is not applied.
func (r *record) fit(now, rate, ahead float64) float64 {
	switch {
	case r.until > now:
		return 0
	case !r.ramping(now) || rate <= 0:
		return math.Inf(1)
	}
	return max(0, rampFit(r.ramp, rate, now-r.until)-r.used-ahead)
}

// ramping reports whether the ramp after the pause is still going on.
func (r *record) ramping(now float64) bool {
	return r.until > 0 && now < r.until+r.ramp
}

// turnAt is when a call may leave that has ahead others before it.
func (r *record) turnAt(now, rate, ahead float64) float64 {
	if r.until <= now && !r.ramping(now) {
		return now
	}
	// From its end on the ramp holds nobody back.
	at := r.until + min(r.ramp, rampOffset(r.ramp, rate, r.used+ahead))
	return max(now, at)
}
