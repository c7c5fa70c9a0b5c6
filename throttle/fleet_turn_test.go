package throttle

import (
	"math/big"
	"slices"
)

// When a meter has room, by playing the queue through: those ahead go unit by
// unit as soon as there is room, then the call, all at once, and nobody else.

// firstRoom is the first instant at which a lane has room for the cost, behind
// ahead others.
func (m *meter) firstRoom(lane int, now, ahead, cost int64) int64 {
	p := m.portions[lane]
	switch m.Algorithm {
	case FixedWindow:
		return m.fixedRoom(p, now, ahead, cost)
	case SlidingWindow:
		return m.slidingRoom(p, now, ahead, cost)
	case SlidingLog:
		return m.logRoom(p, now, ahead, cost)
	}
	at := m.levels[0].reaches(ahead+cost, m.per)
	if l := m.levels[p.level]; p.level > 0 {
		at = max(at, l.reaches(ahead+cost, m.per))
	}
	return max(now, at)
}

func (m *meter) fixedRoom(p portion, now, ahead, cost int64) int64 {
	no := m.binOf(now)
	at, free := now, max(0, p.amount-m.in(no))
	for ahead+cost > free {
		ahead -= min(ahead, free)
		no, free = no+1, p.amount
		at = no*m.per + m.offset
	}
	return at
}

func (m *meter) slidingRoom(p portion, now, ahead, cost int64) int64 {
	no := m.binOf(now)
	previous, current := m.in(no-1), m.in(no)
	elapsed := now - no*m.per - m.offset
	for current+ahead+cost > p.amount {
		// By its last microsecond the window has let as many go as it will.
		went := min(ahead, max(0, p.amount-current-m.carried(previous, m.per-1)))
		previous, current, ahead = current+went, 0, ahead-went
		no, elapsed = no+1, 0
	}
	// The first instant by which the window before has faded enough.
	low, high := elapsed, m.per
	for low < high {
		if mid := (low + high) / 2; current+ahead+cost+m.carried(previous, mid) <= p.amount {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return no*m.per + m.offset + low
}

func (m *meter) logRoom(p portion, now, ahead, cost int64) int64 {
	bins := slices.Clone(m.bins)
	sum, at := int64(0), now
	for _, b := range bins {
		sum += b.units
	}
	for {
		if went := min(ahead, max(0, p.amount-sum)); went > 0 {
			ahead, sum = ahead-went, sum+went
			bins = append(bins, bin{m.binOf(at), went})
		}
		if ahead == 0 && sum+cost <= p.amount {
			return at
		}
		// Until the oldest slot ends there is no more room.
		at, sum, bins = max(at, m.ends(bins[0].no)), sum-bins[0].units, bins[1:]
	}
}

// reaches is when a level will have held so many units, if whatever flows in
// is drawn at once.
func (l *level) reaches(units, per int64) int64 {
	return l.at + ceilDiv(max(0, units*per-l.have), l.amount)
}

// mayLeave reports whether the k-th call of a ramp, from 0, may leave so long
// after the pause: no earlier than ramp*sqrt(2k/K), where K is how many calls
// of the pace fit in the ramp. Squared and multiplied out, it is a comparison
// of whole numbers.
func (p pace) mayLeave(k, ramp, elapsed int64) bool {
	if k <= 0 || elapsed >= ramp || p.free() {
		return true
	}
	left := new(big.Int).Mul(big.NewInt(elapsed), big.NewInt(elapsed))
	left.Mul(left, big.NewInt(p.amount))
	right := new(big.Int).Mul(big.NewInt(2*k*ramp), big.NewInt(p.cost))
	right.Mul(right, big.NewInt(p.per))
	return left.Cmp(right) >= 0
}

// leaves is the first microsecond of the ramp at which the k-th call may leave.
func (p pace) leaves(k, ramp int64) int64 {
	low, high := int64(0), ramp
	for low < high {
		if mid := (low + high) / 2; p.mayLeave(k, ramp, mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// A pace is how fast a limit lets calls of one cost through.
type pace struct{ amount, cost, per int64 }

// free reports whether nothing limits the calls.
func (p pace) free() bool { return p.cost == 0 }

func (p pace) slower(q pace) bool {
	a := new(big.Int).Mul(big.NewInt(p.amount), new(big.Int).Mul(big.NewInt(q.cost), big.NewInt(q.per)))
	b := new(big.Int).Mul(big.NewInt(q.amount), new(big.Int).Mul(big.NewInt(p.cost), big.NewInt(p.per)))
	return a.Cmp(b) < 0
}
