package throttle

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/headgate-go/headgate/lanes"
)

// An exactBucket is the token bucket as it is defined: what it held when it
// was last full or its rate changed, corrected by what was drawn, plus all
// that has flowed in since.
type exactBucket struct {
	level, since       int64
	amount, burst, per int64
}

func (m *exactBucket) has(now int64) int64 {
	n := new(big.Int).Mul(big.NewInt(max(0, now-m.since)), big.NewInt(m.amount))
	n.Quo(n, big.NewInt(m.per))
	n.Add(n, big.NewInt(m.level))
	if n.Cmp(big.NewInt(m.burst)) > 0 {
		return m.burst
	}
	return n.Int64()
}

// see is what a claim at now does: a full bucket starts anew, and one whose rate
// changes keeps what it has of the next unit, in whole microseconds at the new
// rate.
func (m *exactBucket) see(now, amount int64) {
	level := m.has(now)
	part := new(big.Int).Mul(big.NewInt(max(0, now-m.since)), big.NewInt(m.amount))
	part.Rem(part, big.NewInt(m.per))
	switch {
	case level == m.burst:
		m.level, m.since, m.amount = level, now, amount
	case amount != m.amount:
		m.level, m.since, m.amount = level, now-part.Int64()/amount, amount
	}
}

func FuzzBucket(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Add(uint64(530)) // elapsed times amount is above 2^53
	f.Fuzz(func(t *testing.T, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		m := &exactBucket{
			amount: 1 + rnd.Int64N([]int64{5, 1000, 100_000}[rnd.IntN(3)]),
			per:    []int64{1000, 1001, 60e6, 86_400e6}[rnd.IntN(4)],
		}
		m.burst = 1 + rnd.Int64N(2*m.amount)
		matchBucket(t, rnd, m)
	})
}

func matchBucket(t *testing.T, rnd *rand.Rand, m *exactBucket) {
	var b bucketLevel
	burst, per, rate := float64(m.burst), float64(m.per), m.amount
	now := int64(1.7e15)
	m.level, m.since = m.burst, now
	for step := range 400 {
		if now += passes(rnd, m.per); now < int64(b.at) {
			now = int64(b.at)
		}
		if rnd.IntN(20) == 0 {
			rate = 1 + rnd.Int64N(100_000)
		}
		m.see(now, rate)
		bucketAdvance(&b, float64(now), float64(rate), burst, per)
		has := bucketHas(&b, float64(now), per)
		if want := float64(m.has(now)); has != want {
			t.Fatalf("step %d: %v units, want %v", step, has, want)
		}
		units := 1 + rnd.Int64N(m.burst)
		switch {
		case has >= float64(units):
			bucketTake(&b, float64(now), per, float64(units), levelFloor)
			m.level -= units
		default:
			checkFirstInstant(t, &b, float64(now), per, burst, float64(units))
		}
		if rnd.IntN(4) == 0 {
			// An excess, which may leave a debt.
			bucketSettle(&b, float64(now), per, float64(now), float64(units), burst, levelFloor)
			m.level -= units
		}
	}
}

// checkFirstInstant checks that units are there at the instant that
// bucketRoomAt names, and not a microsecond before.
func checkFirstInstant(t *testing.T, b *bucketLevel, now, per, burst, units float64) {
	t.Helper()
	hasAt := func(at float64) float64 {
		copied := *b
		bucketAdvance(&copied, at, b.amount, burst, per)
		return bucketHas(&copied, at, per)
	}
	at := bucketRoomAt(b, now, per, units)
	if at-now >= maxWait {
		return
	}
	if hasAt(at) < units || at <= now || hasAt(at-1) >= units {
		t.Errorf("%+v at %v: room for %v named at %v, where there are %v, before it %v", *b, now, units, at, hasAt(at), hasAt(at-1))
	}
}

// Processes with an old and a new configuration share a bucket: it fills at one
// rate or the other, and never stands still.
func TestABucketOfTwoRatesFills(t *testing.T) {
	const burst, per, step = 100, 2e6, 1000
	var b bucketLevel
	now := 1.7e15
	bucketAdvance(&b, now, 50, burst, per)
	bucketTake(&b, now, per, burst, levelFloor)
	for i := range 2000 { // two seconds
		now += step
		bucketAdvance(&b, now, []float64{50, 10}[i%2], burst, per)
	}
	// Half the time 25 a second, half the time 5.
	if has := bucketHas(&b, now, per); has < 28 || has > 31 {
		t.Errorf("%v units after two seconds, want 30", has)
	}
}

// Asking at every microsecond or hardly ever makes no difference.
func TestABucketDoesNotDriftHoweverOftenItIsAsked(t *testing.T) {
	for _, amount := range []float64{1, 7, 13, 30, 60, 100, 999, 12_345} {
		const burst, per = 500, 1009
		var often, rarely bucketLevel
		bucketAdvance(&often, 1e15, amount, burst, per)
		bucketAdvance(&rarely, 1e15, amount, burst, per)
		rnd := rand.New(rand.NewPCG(uint64(amount), 0))
		now := 1e15
		for range 40 {
			for range 1 + rnd.IntN(3000) {
				now++
				bucketAdvance(&often, now, amount, burst, per)
			}
			bucketAdvance(&rarely, now, amount, burst, per)
			a, b := bucketHas(&often, now, per), bucketHas(&rarely, now, per)
			if a != b {
				t.Fatalf("amount %v: %v units if asked often, %v if rarely", amount, a, b)
			}
			units := float64(rnd.IntN(300))
			bucketTake(&often, now, per, units, levelFloor)
			bucketTake(&rarely, now, per, units, levelFloor)
		}
	}
}

// A refused call of three leaves nothing behind that a call of one would feel.
func TestOneUnitFitsAtEveryRateAfterThreeWereRefused(t *testing.T) {
	for _, rpm := range []float64{30, 60, 100, 7, 13} {
		const per = 60e6
		b := bucketLevel{level: 0, at: 1e15, full: 1e15, amount: rpm}
		at := bucketRoomAt(&b, 1e15, per, 1)
		for now := at - 50; now <= at; now++ {
			bucketAdvance(&b, now, rpm, rpm, per)
			if has := bucketHas(&b, now, per); has >= 3 || (has >= 1) != (now >= at) {
				t.Fatalf("RPM %v: %v units %v µs before the first", rpm, has, at-now)
			}
		}
	}
}

// What a queue needs together may be more than the bucket ever holds.
func TestAQueuesTurnInABucketIsWhenItsUnitsHaveFlowed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	for range 2000 {
		amount, burst, per := float64(1+rnd.IntN(40)), float64(1+rnd.IntN(10)), float64(50+rnd.IntN(100))
		b := bucketLevel{level: float64(rnd.IntN(int(burst))), at: 1000, full: 1000, amount: amount}
		need := float64(1 + rnd.IntN(60))
		got, drain, now := bucketRoomAt(&b, 1000, per, need), b, 1000.0
		for left := need; ; now++ {
			bucketAdvance(&drain, now, amount, burst, per)
			goes := min(left, bucketHas(&drain, now, per))
			bucketTake(&drain, now, per, goes, levelFloor)
			if left -= goes; left == 0 {
				break
			}
		}
		// A bucket seen full starts anew, which may cost the queue a part of a
		// microsecond each time.
		if got > now || now > got+need/burst {
			t.Fatalf("%+v, need %v: turn at %v, drained at %v", b, need, got, now)
		}
	}
}

func TestBucketSettlement(t *testing.T) {
	b := bucketLevel{level: 3, at: 1000, full: 900, amount: 10}
	steps := []struct {
		name      string
		at, delta float64
		want      float64
	}{
		{"refund of a charge that still counts", 950, -4, 7},
		{"refund above the burst", 950, -9, 10},
		{"refund at the instant it was full", 900, -4, 7},
		{"refund of a charge that filling up has forgotten", 899, -4, 3},
		{"excess", 950, 2, 1},
		{"excess that leaves a debt", 950, 50, -47},
		{"excess of a forgotten charge counts", 100, 2, 1},
		{"an excess below the floor", 950, 1e16, levelFloor},
	}
	for _, s := range steps {
		c := b
		bucketSettle(&c, 1000, 100, s.at, s.delta, 10, levelFloor)
		full := b.full
		if s.want == 10 {
			full = 1000 // it is full now, and has forgotten the other charges
		}
		if c.level != s.want || c.at != b.at || c.full != full {
			t.Errorf("%s: %+v, want level %v", s.name, c, s.want)
		}
	}
}

const minuteMicros = 60e6 // microseconds

// advanced is a fresh bucket of a rate per minute, drained of some units at 0.
func advanced(rpm, drained float64) *bucketLevel {
	b := &bucketLevel{}
	bucketAdvance(b, 1e15, rpm, rpm, minuteMicros)
	bucketTake(b, 1e15, minuteMicros, drained, levelFloor)
	return b
}

func TestARaisedRateHoldsWithinOneWindow(t *testing.T) {
	b := advanced(10, 10)
	for second := range 61 {
		now := 1e15 + float64(second)*1e6
		bucketAdvance(b, now, 1000, 1000, minuteMicros)
		if has, want := bucketHas(b, now, minuteMicros), float64(second*1000/60); has != want {
			t.Fatalf("second %d: %v units, want %v", second, has, want)
		}
	}
}

func TestALoweredRateHoldsAtOnce(t *testing.T) {
	for _, drained := range []float64{0, 500, 1000} {
		b := advanced(1000, drained)
		for second := range 61 {
			now := 1e15 + float64(second)*1e6
			bucketAdvance(b, now, 10, 10, minuteMicros)
			has := bucketHas(b, now, minuteMicros)
			if want := min(10, 1000-drained+float64(second*10/60)); has != want {
				t.Fatalf("drained of %v, second %d: %v units, want %v", drained, second, has, want)
			}
		}
	}
}

func TestIdlingNeverFillsABucketAboveItsBurst(t *testing.T) {
	b := advanced(60, 60)
	for _, now := range []float64{1e15 + 365*24*3600e6, 2e15, 8e15} {
		bucketAdvance(b, now, 60, 60, minuteMicros)
		if has := bucketHas(b, now, minuteMicros); has != 60 {
			t.Errorf("at %v: %v units, want 60", now, has)
		}
	}
}

// sharedSpec is a bucket of a rate per minute with the default lanes.
func sharedSpec(rpm int64) *spec {
	s := newSpec(Requests(rpm, minuteMicros*1000).Using(TokenBucket), lanes.Default(), "")
	return &s
}

const liveLane, backgroundLane = 0, 1

// While live calls take everything the lane below gets nothing, and its debt
// is bounded: its first call goes (burst - share's burst + 1) / share's rate
// after the last live one, however long that went on.
func TestABackgroundLaneComesBackAfterLiveSaturation(t *testing.T) {
	for _, minutes := range []float64{1, 10, 600} {
		s, c := sharedSpec(100), &counter{}
		now := 1e15
		for end := now + minutes*minuteMicros; now < end; now += 1e6 {
			c.advance(s, now)
			c.take(s, now, c.fit(s, liveLane, now, 0, 1))
			if now > 1e15 && c.fit(s, backgroundLane, now, 0, 1) > 0 {
				t.Fatalf("background goes %v µs into saturation", now-1e15)
			}
		}
		last := now - 1e6
		share := s.ceilings[backgroundLane]
		wait := c.roomAt(s, backgroundLane, last, 0, 1) - last
		if most := (s.burst-share.burst+1)*s.per/share.amount + 1; wait > most || wait <= 0 {
			t.Errorf("after %v minutes of saturation background waits %v µs, want at most %v", minutes, wait, most)
		}
	}
}

// A lane that draws alone stays within its share in any stretch of time.
func TestALaneAloneStaysWithinItsShare(t *testing.T) {
	for seed := range uint64(10) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		s, c := sharedSpec(int64(10+rnd.IntN(200))), &counter{}
		share := s.ceilings[backgroundLane]
		type draw struct{ at, units float64 }
		var draws []draw
		for now := 1e15; now < 1e15+5*minuteMicros; now += float64(rnd.IntN(3e6)) {
			c.advance(s, now)
			cost := float64(1 + rnd.IntN(4))
			if n := min(c.fit(s, backgroundLane, now, 0, cost), float64(rnd.IntN(30))); n > 0 {
				c.take(s, now, n*cost)
				draws = append(draws, draw{now, n * cost})
			}
		}
		for i, first := range draws {
			sum := 0.0
			for _, d := range draws[i:] {
				sum += d.units
				if bound := share.burst + (d.at-first.at)*share.amount/s.per; sum > bound {
					t.Fatalf("seed %d: %v units in %v µs, want at most %v", seed, sum, d.at-first.at, bound)
				}
			}
		}
	}
}

func TestARefundNeverFillsABucketAboveItsBurst(t *testing.T) {
	s, c := sharedSpec(10), &counter{}
	now := 1e15
	c.advance(s, now)
	c.take(s, now, 10)
	now += 54e6 // nine have flowed in
	c.advance(s, now)
	c.settle(s, now, 1e15, -10) // the ten were never sent
	if n := c.fit(s, liveLane, now, 0, 1); n > 10 {
		t.Errorf("%v calls go at once, the burst is 10", n)
	}
}

func TestALoweredLimitForgetsTheDebtOfItsShares(t *testing.T) {
	s, c := sharedSpec(1000), &counter{}
	now := 1e15
	c.advance(s, now)
	c.take(s, now, 1000) // live empties the bucket
	s = sharedSpec(10)
	c.advance(s, now+1)
	if wait := c.roomAt(s, backgroundLane, now+1, 0, 1) - now; wait > 2*minuteMicros {
		t.Errorf("background waits %v minutes for the first of its 6 a minute", wait/minuteMicros)
	}
}
