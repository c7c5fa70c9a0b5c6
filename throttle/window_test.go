package throttle

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// An exactWindow is the two-counter estimate as it is defined: charges by
// window, and whole numbers of any size.
type exactWindow struct {
	per, offset int64
	latest      int64 // the latest window seen
	charged     map[int64]int64
}

func (m *exactWindow) index(now int64) int64 {
	q, r := (now-m.offset)/m.per, (now-m.offset)%m.per
	if r < 0 {
		q--
	}
	return q
}

func (m *exactWindow) advance(now int64) { m.latest = max(m.latest, m.index(now)) }

// used is current + ceil(previous * (per - elapsed) / per).
func (m *exactWindow) used(now int64) int64 {
	elapsed := max(0, now-m.latest*m.per-m.offset)
	n := new(big.Int).Mul(big.NewInt(m.charged[m.latest-1]), big.NewInt(m.per-elapsed))
	q, r := new(big.Int).QuoRem(n, big.NewInt(m.per), new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return m.charged[m.latest] + q.Int64()
}

// settle corrects a charge made in a window, if that still counts; an excess
// that is too late counts now. Use saturates.
func (m *exactWindow) settle(at, delta int64) {
	i := m.index(at)
	if i < m.latest-1 {
		if delta < 0 {
			return
		}
		i = m.latest
	}
	i = min(i, m.latest)
	m.charged[i] = min(int64(usedCap), max(0, m.charged[i]+delta))
}

// exactProduct is where every product of the arithmetic is exact. Above it
// rounding may move the estimate by one unit.
const exactProduct = 1 << 53

func FuzzWindow(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		per := []int64{1000, 1001, 60e6, 3600e6, MaxPer.Microseconds()}[rnd.IntN(5)]
		amount := 1 + rnd.Int64N([]int64{3, 100, 1e6, MaxAmount}[rnd.IntN(4)])
		m := &exactWindow{per: per, offset: rnd.Int64N(per), charged: map[int64]int64{}}
		s := &spec{amount: float64(amount), per: float64(per), offset: float64(m.offset)}
		tolerance := float64(1)
		if amount < exactProduct/per {
			tolerance = 0
		}
		matchWindow(t, rnd, m, s, tolerance)
	})
}

func matchWindow(t *testing.T, rnd *rand.Rand, m *exactWindow, s *spec, tolerance float64) {
	c := &counter{}
	now, amount := int64(1.7e15), int64(s.amount)
	var at []int64
	for step := range 400 {
		now += passes(rnd, m.per)
		m.advance(now)
		windowAdvance(c, s, float64(now))
		if got, want := windowUsed(c, s, float64(now)), float64(m.used(now)); math.Abs(got-want) > tolerance {
			t.Fatalf("step %d: used is %v, want %v", step, got, want)
		}
		cost := 1 + rnd.Int64N(max(1, amount/4))
		fit := windowFit(c, s, float64(now), s.amount, 0, float64(cost))
		if want := math.Floor(float64(max(0, amount-m.used(now))) / float64(cost)); tolerance == 0 && fit != want {
			t.Fatalf("step %d: %v calls of %d fit, want %v", step, fit, cost, want)
		}
		if n := min(fit, float64(rnd.IntN(4))); n > 0 {
			c.current += n * float64(cost)
			m.charged[m.latest] += int64(n) * cost
			at = append(at, now)
			if used := float64(m.used(now)); used > s.amount+tolerance {
				t.Fatalf("step %d: admitted up to %v of %v", step, used, s.amount)
			}
		}
		if len(at) > 0 && rnd.IntN(3) == 0 {
			when, delta := at[rnd.IntN(len(at))], rnd.Int64N(2*amount+1)-amount
			windowSettle(c, s, float64(when), float64(delta))
			m.settle(when, delta)
		}
	}
}

// passes is how far the clock moves: rarely back, as after a failover.
func passes(rnd *rand.Rand, per int64) int64 {
	switch rnd.IntN(10) {
	case 0:
		return 0
	case 1:
		return -rnd.Int64N(2 * per)
	case 2:
		return rnd.Int64N(4 * per)
	}
	return rnd.Int64N(per / 2)
}

func TestWindowSettlesWhereItWasCharged(t *testing.T) {
	s := &spec{amount: 10_000, per: 60e6}
	tests := []struct {
		name                      string
		at, delta                 float64
		wantCurrent, wantPrevious float64
	}{
		{"refund in the current window", 605e6, -4000, 5000, 8000},
		{"refund in the previous window", 595e6, -8000, 9000, 0},
		{"refund for a window that is forgotten", 535e6, -8000, 9000, 8000},
		{"refund above what was charged leaves nothing negative", 595e6, -9000, 9000, 0},
		{"the same in the current window", 605e6, -9500, 0, 8000},
		{"excess in the current window", 605e6, 500, 9500, 8000},
		{"excess in the previous window", 595e6, 500, 9000, 8500},
		{"excess that is too late counts now", 535e6, 500, 9500, 8000},
		{"excess of a charge from the future, after the clock went back", 700e6, 500, 9500, 8000},
		{"refund of one", 700e6, -500, 8500, 8000},
	}
	for _, tt := range tests {
		c := &counter{index: 10, current: 9000, previous: 8000}
		windowSettle(c, s, tt.at, tt.delta)
		if c.current != tt.wantCurrent || c.previous != tt.wantPrevious {
			t.Errorf("%s: current, previous = %v, %v, want %v, %v", tt.name, c.current, c.previous, tt.wantCurrent, tt.wantPrevious)
		}
	}
}

func TestWindowIsNotRewoundByAClockThatGoesBack(t *testing.T) {
	s := &spec{amount: 10, per: 100}
	c := &counter{index: 7, current: 6, previous: 4}
	windowAdvance(c, s, 350)
	if c.index != 7 || c.current != 6 || c.previous != 4 {
		t.Fatalf("rewound to %+v", c)
	}
	// All of the previous window counts until the clock is where it was.
	if used := windowUsed(c, s, 350); used != 10 {
		t.Errorf("used is %v, want 10", used)
	}
}

// One call a second under 120 a minute is never refused, however long: no use
// renews what an earlier one has left.
func TestSteadyUseBelowTheAmountIsNeverRefused(t *testing.T) {
	s := &spec{amount: 120, per: 60e6}
	c := &counter{}
	for second := range 7200 {
		now := 1.7e15 + float64(second)*1e6
		windowAdvance(c, s, now)
		if windowFit(c, s, now, s.amount, 0, 1) < 1 {
			t.Fatalf("refused in second %d", second)
		}
		c.current++
	}
}

// roomFor is when a call of the given cost goes, behind waiting calls that
// need ahead units.
func roomFor(c *counter, s *spec, now, ahead, cost float64) float64 {
	return windowRoomAt(c, s, now, s.amount, ahead, cost)
}

// greedyRoom is the same by trial: microsecond by microsecond, those ahead go
// unit by unit as soon as they fit, then the call goes whole.
func greedyRoom(c counter, s *spec, now, ahead, cost float64) float64 {
	for ; ; now++ {
		windowAdvance(&c, s, now)
		for ahead > 0 && windowFit(&c, s, now, s.amount, 0, 1) >= 1 {
			c.current++
			ahead--
		}
		if ahead == 0 && windowFit(&c, s, now, s.amount, 0, cost) >= 1 {
			return now
		}
	}
}

// Whatever the magnitudes: at the instant named the call fits, and not a
// microsecond before.
func FuzzWindowRoomInThisWindow(f *testing.F) {
	f.Add(int64(60e6), int64(600), int64(100), int64(700), int64(500), int64(0))
	f.Add(int64(1000), int64(MaxAmount), int64(MaxAmount), int64(5), int64(MaxAmount-5), int64(999))
	f.Add(MaxPer.Microseconds(), int64(MaxAmount), int64(MaxAmount), int64(0), int64(1), int64(1))
	f.Add(int64(1000), int64(1), int64(1), int64(0), int64(1), int64(0))
	rnd := rand.New(rand.NewPCG(1, 0))
	n := func() int64 { return rnd.Int64N(1 << (1 + rnd.IntN(51))) }
	for range 1000 {
		f.Add(n(), n(), n(), n(), n(), n())
	}
	f.Fuzz(func(t *testing.T, per, amount, previous, current, cost, elapsed int64) {
		per, amount = within(per, 1000, MaxPer.Microseconds()), within(amount, 1, MaxAmount)
		current = within(current, 0, amount-1)
		cost, previous = within(cost, 1, amount-current), within(previous, 0, 2*amount)
		s := &spec{amount: float64(amount), per: float64(per)}
		c := &counter{index: 20, current: float64(current), previous: float64(previous)}
		now := windowStart(c, s) + float64(within(elapsed, 0, per-1))
		fits := func(at float64) bool {
			d := *c
			windowAdvance(&d, s, at)
			return windowFit(&d, s, at, s.amount, 0, float64(cost)) >= 1
		}
		at := roomFor(c, s, now, 0, float64(cost))
		if at < now || !fits(at) {
			t.Errorf("%+v: at %v it doesn't fit", *c, at-now)
		}
		if at > now && fits(at-1) {
			t.Errorf("%+v: it fits before %v", *c, at-now)
		}
	})
}

// within brings a fuzzed number into a range.
func within(n, low, high int64) int64 {
	if n >= low && n <= high {
		return n
	}
	return low + int64(uint64(n)%uint64(high-low+1))
}

// A waiting call is woken at the instant named and asks again, so an early one
// costs a question and a late one would leave room unused.
func TestATurnIsNeverNamedAfterItsRoom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	for range 10_000 {
		s := &spec{amount: float64(1 + rnd.IntN(20)), per: float64(3 + rnd.IntN(100))}
		use := func() float64 { return float64(rnd.IntN(int(s.amount) + 4)) } // more than amount after an excess
		c := counter{index: 5, current: use(), previous: use()}
		now := windowStart(&c, s) + float64(rnd.IntN(int(s.per)))
		ahead, cost := float64(rnd.IntN(60)*rnd.IntN(2)), float64(1+rnd.IntN(int(s.amount)))
		if windowFit(&c, s, now, s.amount, ahead, cost) >= 1 {
			continue
		}
		if got, want := roomFor(&c, s, now, ahead, cost), greedyRoom(c, s, now, ahead, cost); got > want {
			t.Fatalf("%+v at %v of %+v, %v ahead, cost %v: turn at %v, there is room at %v", c, now, *s, ahead, cost, got, want)
		}
	}
}

func TestATurnIsTheFirstInstantWithRoom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	for range 10_000 {
		s := &spec{amount: float64(1 + rnd.IntN(20)), per: float64(3 + rnd.IntN(100))}
		use := func() float64 { return float64(rnd.IntN(int(s.amount) + 4)) }
		c := counter{index: 5, current: use(), previous: use()}
		now := windowStart(&c, s) + float64(rnd.IntN(int(s.per)))
		ahead, cost := float64(rnd.IntN(300)*rnd.IntN(2)), float64(1+rnd.IntN(int(s.amount)))
		if windowFit(&c, s, now, s.amount, ahead, cost) >= 1 {
			continue
		}
		if got, want := roomFor(&c, s, now, ahead, cost), greedyRoom(c, s, now, ahead, cost); got != want {
			t.Fatalf("%+v at %v of %+v, %v ahead, cost %v: turn at %v, there is room at %v", c, now, *s, ahead, cost, got, want)
		}
	}
}
