package throttle

import (
	"cmp"
	"math"
	"slices"
)

// A meter measures one limit by its definition, in whole microseconds and
// units: sums of what was charged, window by window or slot by slot, and exact
// levels of buckets. It shares no arithmetic with the counters that it judges.
type meter struct {
	Limit
	per, offset int64 // microseconds
	portions    []portion
	bins        []bin    // of windows or slots, oldest first
	raw         []bin    // SlidingLog: what was charged at which microsecond
	levels      []*level // of a bucket: the whole, then one for each lesser share
}

// A portion is what one lane may draw of a limit.
type portion struct {
	amount, burst int64
	level         int // its share's, of a bucket
}

// A bin is what was charged in one window, slot or microsecond.
type bin struct{ no, units int64 }

// A level is an exact bucket. It holds have/per units.
type level struct {
	amount, burst, floor int64
	have, at, full       int64
	used                 bool // it was ever looked at; a new one is full
}

// newMeter returns the meter of a limit whose lanes have the given shares, in
// millionths.
func newMeter(l Limit, offset int64, shares []int64) *meter {
	m := &meter{Limit: l, per: l.Per.Microseconds(), offset: offset}
	burst := cmp.Or(l.Burst, l.Amount)
	known := map[int64]int{1e6: 0}
	m.levels = []*level{{amount: l.Amount, burst: burst, floor: math.MinInt64 / 2}}
	for _, share := range shares {
		p := portion{amount: max(1, l.Amount*share/1e6), burst: max(1, burst*share/1e6)}
		if _, ok := known[share]; !ok {
			known[share] = len(m.levels)
			m.levels = append(m.levels, &level{amount: p.amount, burst: p.burst, floor: p.burst - burst})
		}
		p.level = known[share]
		m.portions = append(m.portions, p)
	}
	return m
}

func (m *meter) bucket() bool { return m.Algorithm == TokenBucket || m.Algorithm == GCRA }

func (m *meter) clone() *meter {
	c := *m
	c.bins, c.raw, c.levels = slices.Clone(m.bins), slices.Clone(m.raw), nil
	for _, l := range m.levels {
		copied := *l
		c.levels = append(c.levels, &copied)
	}
	return &c
}

// most is the largest cost that a lane can ever have.
func (m *meter) most(lane int) int64 {
	if m.bucket() {
		return m.portions[lane].burst
	}
	return m.portions[lane].amount
}

// width is the length of a bin: a window, or a thousandth of one, rounded up.
func (m *meter) width() int64 {
	if m.Algorithm == SlidingLog {
		return ceilDiv(m.per, 1000)
	}
	return m.per
}

func (m *meter) binOf(at int64) int64 { return floorDiv(at-m.offset, m.width()) }

// ends is when a bin stops counting.
func (m *meter) ends(no int64) int64 {
	w := m.width()
	switch end := (no+1)*w + m.offset; m.Algorithm {
	case SlidingWindow:
		return end + m.per
	case SlidingLog: // to its slot's end, and then for a window
		return ceilDiv(end+m.per, w) * w
	default:
		return end
	}
}

func (m *meter) in(no int64) int64 {
	for _, b := range m.bins {
		if b.no == no {
			return b.units
		}
	}
	return 0
}

// put adds units to a bin, of which never less than nothing is left.
func (m *meter) put(no, units int64) {
	i, found := slices.BinarySearchFunc(m.bins, no, func(b bin, no int64) int { return cmp.Compare(b.no, no) })
	if !found {
		m.bins = slices.Insert(m.bins, i, bin{no: no})
	}
	m.bins[i].units = max(0, m.bins[i].units+units)
}

// advance lets time pass.
func (m *meter) advance(now int64) {
	if m.bucket() {
		for _, l := range m.levels {
			l.advance(now, m.per)
		}
		return
	}
	m.bins = slices.DeleteFunc(m.bins, func(b bin) bool { return m.ends(b.no) <= now })
	m.raw = slices.DeleteFunc(m.raw, func(b bin) bool { return b.no <= now-m.per })
}

// take charges units.
func (m *meter) take(now, units int64) {
	if m.bucket() {
		for _, l := range m.levels {
			l.take(units, m.per)
		}
		return
	}
	m.put(m.binOf(now), units)
	m.noteRaw(now, units)
}

func (m *meter) noteRaw(at, units int64) {
	if m.Algorithm == SlidingLog {
		m.raw = append(m.raw, bin{at, units})
	}
}

// settle corrects what was charged at an instant: a refund where it was
// charged, or nowhere once that is forgotten; an excess there, or now.
func (m *meter) settle(now, at, delta int64) {
	if m.bucket() {
		for _, l := range m.levels {
			l.settle(at, delta, m.per)
		}
		return
	}
	no := m.binOf(at)
	counts := m.ends(no) > now
	if m.Algorithm == SlidingLog {
		counts = counts && m.in(no) > 0 // an empty slot is none
	}
	switch {
	case counts:
		m.noteRaw(at, max(delta, -m.in(no)))
		m.put(no, delta)
	case delta > 0:
		m.noteRaw(now, delta)
		m.put(m.binOf(now), delta)
	}
}

// used is what counts against the limit now.
func (m *meter) used(now int64) int64 {
	switch m.Algorithm {
	case FixedWindow:
		return m.in(m.binOf(now))
	case SlidingWindow:
		no := m.binOf(now)
		return m.in(no) + m.carried(m.in(no-1), now-no*m.per-m.offset)
	case SlidingLog:
		sum := int64(0)
		for _, b := range m.bins {
			sum += b.units
		}
		return sum
	}
	return m.levels[0].burst - m.levels[0].holds(m.per)
}

// carried is what the window before still counts, elapsed into this one.
func (m *meter) carried(previous, elapsed int64) int64 {
	return ceilDiv(previous*(m.per-elapsed), m.per)
}

// strictly is what was charged in (now-Per, now].
func (m *meter) strictly(now int64) int64 {
	sum := int64(0)
	for _, b := range m.raw {
		if b.no > now-m.per {
			sum += b.units
		}
	}
	return sum
}

// free is how many units a lane may draw now; less than nothing where others
// have drawn beyond its ceiling.
func (m *meter) free(lane int, now int64) int64 {
	p := m.portions[lane]
	if m.bucket() {
		return min(m.levels[0].holds(m.per), m.levels[p.level].holds(m.per))
	}
	return p.amount - m.used(now)
}

func (l *level) advance(now, per int64) {
	if !l.used {
		*l = level{amount: l.amount, burst: l.burst, floor: l.floor, have: l.burst * per, at: now, full: now, used: true}
		return
	}
	l.have += (now - l.at) * l.amount
	l.at = now
	l.cap(per)
}

// cap ends a level at its burst, where it forgets what was drawn.
func (l *level) cap(per int64) {
	if l.have >= l.burst*per {
		l.have, l.full = l.burst*per, l.at
	}
}

func (l *level) holds(per int64) int64 { return floorDiv(l.have, per) }

// take draws units; whole ones below the floor are forgiven.
func (l *level) take(units, per int64) {
	l.have -= units * per
	l.have += max(0, l.floor-l.holds(per)) * per
}

func (l *level) settle(at, delta, per int64) {
	switch {
	case delta > 0:
		l.take(delta, per)
	case at >= l.full:
		l.have -= delta * per
		l.cap(per)
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }
