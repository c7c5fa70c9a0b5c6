package throttle

import (
	"math/rand/v2"
	"testing"
)

// A slow exact model of a log of slots: every charge by itself.
type logModel struct {
	per, amount float64
	charges     []charge1
}

type charge1 struct{ at, units float64 }

func (m *logModel) used(now float64) (sum float64) {
	width := logWidth(m.per)
	for _, c := range m.charges {
		// To the end of its slot, and then for per in whole slots.
		slot := float64(int64(c.at) / int64(width))
		if now < (slot+1+logSpan(m.per))*width {
			sum += c.units
		}
	}
	return sum
}

// settle corrects a charge while it counts; an excess that is too late for that
// counts now.
func (m *logModel) settle(i int, now, delta float64) {
	alone := logModel{per: m.per, charges: m.charges[i : i+1]}
	if alone.used(now) > 0 {
		m.charges[i].units += delta
	} else if delta > 0 {
		m.charges = append(m.charges, charge1{now, delta})
	}
}

func FuzzLog(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Add(uint64(90)) // an excess of a charge that had stopped counting
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 2))
		per := float64(1000 + r.IntN(100_000))
		amount := float64(1 + r.IntN(50))
		s := &spec{algorithm: SlidingLog, per: per, amount: amount, ceilings: []ceiling{{whole, amount, amount}}}
		c, m := &counter{}, &logModel{per: per, amount: amount}
		for now, step := 1e15, 0; step < 300; step++ {
			now += float64(r.IntN(int(per / 5)))
			c.advance(s, now)
			if got, want := c.current, m.used(now); got != want {
				t.Fatalf("seed %d, step %d: %v used, want %v", seed, step, got, want)
			}
			cost := float64(1 + r.IntN(3))
			if c.fit(s, 0, now, 0, cost) >= 1 {
				c.take(s, now, cost)
				m.charges = append(m.charges, charge1{now, cost})
			} else if at := c.roomAt(s, 0, now, 0, cost); cost <= amount && (m.used(at)+cost > amount || m.used(at-1)+cost <= amount) {
				t.Fatalf("seed %d, step %d: room for %v at %v, %v µs from now: %v used then and %v before", seed, step, cost, at, at-now, m.used(at), m.used(at-1))
			}
			if i := len(m.charges) - 1; i >= 0 && m.charges[i].units > 0 && r.IntN(4) == 0 {
				delta := float64(r.IntN(4)) - m.charges[i].units
				c.settle(s, now, m.charges[i].at, delta)
				m.settle(i, now, delta)
			}
		}
		if len(c.slots) > logSlots+2 {
			t.Errorf("%d slots", len(c.slots))
		}
	})
}

// The instant at which the last of a queue goes is where a greedy queue of
// single units gets, tried microsecond by microsecond.
func TestRoomForAQueueIsWhereItGets(t *testing.T) {
	for _, algorithm := range []Algorithm{FixedWindow, SlidingLog, GCRA} {
		r := rand.New(rand.NewPCG(1, uint64(algorithm)))
		for range 200 {
			per, amount := float64(20+r.IntN(100)), float64(1+r.IntN(6))
			s := &spec{algorithm: algorithm, per: per, amount: amount, burst: amount, ceilings: []ceiling{{whole, amount, amount}}}
			c := &counter{}
			now := 1000 * per
			c.advance(s, now)
			for range r.IntN(8) {
				now += float64(r.IntN(int(per) / 2))
				c.advance(s, now)
				c.take(s, now, min(1, c.fit(s, 0, now, 0, 1)))
			}
			need := float64(1 + r.IntN(20))
			want := c.roomAt(s, 0, now, need-1, 1)
			for at := now; ; at++ {
				c.advance(s, at)
				n := min(need, c.fit(s, 0, at, 0, 1))
				c.take(s, at, n)
				if need -= n; need == 0 {
					if at != want {
						t.Fatalf("%v of %v per %v: the queue gets there at %v, want %v", algorithm, amount, per, at-now, want-now)
					}
					break
				}
			}
		}
	}
}
