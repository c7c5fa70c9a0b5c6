package throttle

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestRampOffsets(t *testing.T) {
	const ramp = 10e6 // 10 s
	tests := []struct {
		name    string
		rate, k float64
		want    float64
	}{
		// 600 a minute let 100 calls through in the ramp's time.
		{"the first call leaves at the end", 600 / minuteMicros, 0, 0},
		{"half of the calls leave by the end of the ramp", 600 / minuteMicros, 50, 10e6},
		{"an eighth of that by half of it", 600 / minuteMicros, 12.5, 5e6},
		{"second call", 600 / minuteMicros, 1, 1414214},
		{"third call", 600 / minuteMicros, 2, 2000000},
		{"a slow limit: beyond the ramp", 6 / minuteMicros, 1, 14142136},
		{"no rate", 0, 5, 0},
		{"negative place", 600 / minuteMicros, -1, 0},
	}
	for _, tt := range tests {
		if got := rampOffset(ramp, tt.rate, tt.k); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if got := rampOffset(0, 1, 5); got != 0 {
		t.Errorf("no ramp: %v, want 0", got)
	}
}

func TestRampOffsetsNeverFall(t *testing.T) {
	for _, rate := range []float64{1e-9, 1e-5, 1, 1e6} {
		before := 0.0
		for k := range 10_000 {
			at := rampOffset(10e6, rate, float64(k))
			if at < before || math.IsNaN(at) {
				t.Fatalf("rate %v: call %d leaves at %v, the one before at %v", rate, k, at, before)
			}
			before = at
		}
	}
}

// How many calls may have left and when each leaves are the same rule: of n
// the last has its offset behind it, and the next has not.
func FuzzRamp(f *testing.F) {
	f.Add(uint32(10e6), uint64(600), uint32(5e6))
	f.Add(uint32(10e6), uint64(MaxAmount), uint32(9_999_999))
	f.Add(uint32(1), uint64(1), uint32(0))
	f.Add(uint32(300e6), uint64(1e9), uint32(299_999_999))
	f.Add(uint32(3), uint64(1e15), uint32(2))
	rnd := rand.New(rand.NewPCG(1, 0))
	for range 1000 {
		f.Add(rnd.Uint32N(1<<(1+rnd.IntN(31))), rnd.Uint64N(1<<(1+rnd.IntN(50))), rnd.Uint32())
	}
	f.Fuzz(func(t *testing.T, ramp32 uint32, perMinute uint64, elapsed32 uint32) {
		ramp := float64(max(1, ramp32))
		rate := float64(1+perMinute%MaxAmount) / minuteMicros
		if rate*ramp > 1e15 {
			rate = 1e15 / ramp
		}
		elapsed := math.Mod(float64(elapsed32), ramp)
		n := rampFit(ramp, rate, elapsed)
		if n < 1 || n != math.Trunc(n) {
			t.Fatalf("%v calls in %v of %v at %v", n, elapsed, ramp, rate)
		}
		if last, next := rampOffset(ramp, rate, n-1), rampOffset(ramp, rate, n); last > elapsed || next <= elapsed {
			t.Errorf("%v calls in %v of %v at %v, but the last leaves at %v, the next at %v", n, elapsed, ramp, rate, last, next)
		}
	})
}

func TestNothingLeavesDuringAPause(t *testing.T) {
	r := &record{until: 1000, ramp: 500}
	if n := r.fit(999, 1, 0); n != 0 {
		t.Errorf("%v calls leave before the end", n)
	}
	if n := r.fit(1000, 1, 0); n != 1 {
		t.Errorf("%v calls leave at the end, want 1", n)
	}
}

func TestNothingIsHeldBackAfterTheRamp(t *testing.T) {
	for name, r := range map[string]*record{
		"never paused":   {},
		"ramp is over":   {until: 1000, ramp: 500, used: 3},
		"without a ramp": {until: 1500},
	} {
		if n := r.fit(1500, 1e-3, 10); !math.IsInf(n, 1) {
			t.Errorf("%s: %v calls", name, n)
		}
		if at := r.turnAt(1500, 1e-3, 10); at != 1500 {
			t.Errorf("%s: turn at %v", name, at)
		}
	}
}

func TestARampWithoutARateIsNone(t *testing.T) {
	r := &record{until: 1000, ramp: 500}
	if n := r.fit(1000, 0, 0); !math.IsInf(n, 1) {
		t.Errorf("%v calls", n)
	}
	if at := r.turnAt(0, 0, 5); at != 1000 {
		t.Errorf("turn at %v, want the end", at)
	}
}

// A call's turn is the first instant at which those ahead of it and itself
// may have left, or the end of the ramp.
func TestATurnInTheRampIsTheFirstInstantWithRoom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	for range 20_000 {
		r := &record{until: 1e6, ramp: float64(1 + rnd.IntN(1e6)), used: float64(rnd.IntN(20))}
		rate := math.Exp(-rnd.Float64() * 12)
		now, ahead := float64(rnd.IntN(2e6)), float64(rnd.IntN(20))
		if r.fit(now, rate, ahead) >= 1 {
			if at := r.turnAt(now, rate, ahead); at != now {
				t.Fatalf("%+v, rate %v: at %v there is room, turn at %v", *r, rate, now, at)
			}
			continue
		}
		at := r.turnAt(now, rate, ahead)
		if at <= now || r.fit(at, rate, ahead) < 1 || r.fit(at-1, rate, ahead) >= 1 && at-1 > now {
			t.Fatalf("%+v, rate %v, %v ahead at %v: turn at %v, where %v fit, before it %v",
				*r, rate, ahead, now, at, r.fit(at, rate, ahead), r.fit(at-1, rate, ahead))
		}
	}
}

func TestAHugeRampEnds(t *testing.T) {
	done := make(chan float64, 1)
	go func() { done <- rampFit(6e7, 1e9, 5e7) }() // 1e15 a second, Ramp one minute
	select {
	case <-done:
	case <-time.After(2 * time.Second):
		t.Error("rampFit doesn't return")
	}
}
