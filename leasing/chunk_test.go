package leasing_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/headgate-go/headgate/leasing"
)

var began = time.Unix(1000, 0)

func TestAChunkIsSpentCallByCallInEveryLimit(t *testing.T) {
	c := leasing.NewChunk(3, []float64{1, 100}, began, time.Second)
	for _, tt := range []struct {
		tokens float64
		goes   bool
	}{
		{100, true},
		{250, false}, // more tokens than are left: nothing is taken
		{150, true},
		{51, false},
		{50, true},
		{0, false}, // no call is left
	} {
		if got := c.Spend(began, []float64{1, tt.tokens}); got != tt.goes {
			t.Errorf("%v tokens: %v, want %v", tt.tokens, got, tt.goes)
		}
	}
	units, calls, first := c.Seal()
	if !first || calls != 0 || units[0] != 0 || units[1] != 0 {
		t.Errorf("left are %v units and %v calls, first %v", units, calls, first)
	}
}

func TestACorrectionGoesIntoTheChunkUntilItIsSealed(t *testing.T) {
	c := leasing.NewChunk(2, []float64{1, 100}, began, time.Second)
	spend := func(tokens float64) bool { return c.Spend(began, []float64{1, tokens}) }
	if !spend(100) || !c.Correct([]float64{0, -90}, 0) { // it cost ten
		t.Fatal("the chunk takes nothing")
	}
	if !spend(190) {
		t.Error("what a call didn't need can't be spent")
	}
	if !c.Correct([]float64{-1, -190}, 1) || !spend(190) { // never sent
		t.Error("a call that was cancelled can't go again")
	}
	if !c.Correct([]float64{0, 60}, 0) { // more than it said
		t.Error("an excess is refused")
	}
	units, _, _ := c.Seal()
	if units[0] != 0 || units[1] != -60 {
		t.Errorf("to be given back are %v, want a debt of 60 tokens", units)
	}
	if c.Correct([]float64{0, -1}, 0) || spend(0) {
		t.Error("a sealed chunk still takes or gives")
	}
	if _, _, first := c.Seal(); first {
		t.Error("a chunk was sealed twice")
	}
	if c.Left() != 0 {
		t.Errorf("%v calls are left of a sealed chunk", c.Left())
	}
}

func TestAChunkIsTrustedForItsAgeLessAMargin(t *testing.T) {
	for _, tt := range []struct{ age, trusted time.Duration }{
		{time.Second, 990 * time.Millisecond},
		{20 * time.Millisecond, 18 * time.Millisecond}, // a tenth, where that is less
	} {
		c := leasing.NewChunk(10, []float64{1}, began, tt.age)
		if !c.Spend(began.Add(tt.trusted-1), []float64{1}) {
			t.Errorf("age %v: not to be spent just before %v", tt.age, tt.trusted)
		}
		if c.Spend(began.Add(tt.trusted), []float64{1}) {
			t.Errorf("age %v: spent after %v", tt.age, tt.trusted)
		}
		if !c.Ends().Equal(began.Add(tt.trusted)) {
			t.Errorf("age %v: it ends at %v", tt.age, c.Ends())
		}
	}
}

// The monotonic clock stands still while a machine sleeps, and the wall clock
// may be set back: the later of the two counts.
func TestAChunkEndsByEitherClock(t *testing.T) {
	start := time.Now()
	c := leasing.NewChunk(10, []float64{1}, start, time.Second)
	if woken := monotonic(start.Add(time.Minute), -time.Minute); c.Spend(woken, []float64{1}) {
		t.Error("spent a minute later by the wall clock")
	}
	if setBack := monotonic(start.Add(-time.Minute), 2*time.Minute); c.Spend(setBack, []float64{1}) {
		t.Error("spent a minute later by the monotonic clock")
	}
	if !c.Spend(start, []float64{1}) {
		t.Error("not to be spent at the start")
	}
}

// monotonic moves the monotonic reading of an instant, and not its wall clock.
func monotonic(at time.Time, d time.Duration) time.Time {
	reading := (*int64)(unsafe.Add(unsafe.Pointer(&at), 8)) // after the wall clock's word
	*reading += int64(d)
	return at
}

func TestTheNextChunkIsDueWhenAQuarterIsLeftOrAThirdOfTheTime(t *testing.T) {
	const age = 900 * time.Millisecond
	c := leasing.NewChunk(8, []float64{1, 10, 0}, began, age)
	for left := 7; left >= 2; left-- {
		if c.Low(began, age) {
			t.Fatalf("low with %d of 8 left", left+1)
		}
		c.Spend(began, []float64{1, 10, 0})
	}
	if !c.Low(began, age) {
		t.Error("not low with 2 of 8 left")
	}
	c = leasing.NewChunk(8, []float64{1, 10, 0}, began, age)
	c.Spend(began, []float64{1, 60, 0})
	if !c.Low(began, age) {
		t.Error("not low with 20 of 80 tokens left")
	}
	c = leasing.NewChunk(8, []float64{1, 10, 0}, began, age)
	if at := c.Ends().Add(-age / 3); c.Low(at, age) || !c.Low(at.Add(1), age) {
		t.Error("not low from two thirds of its time on")
	}
	c.Seal()
	if !c.Low(began, age) {
		t.Error("a sealed chunk isn't low")
	}
}

// A slow model: every unit is accounted for in plain integers.
func FuzzChunk(f *testing.F) {
	f.Add(uint8(10), uint8(1), uint8(20), []byte{1, 2, 3, 250, 100, 7})
	f.Add(uint8(1), uint8(0), uint8(0), []byte{0, 128, 255})
	f.Add(uint8(200), uint8(255), uint8(3), []byte("spend, settle, cancel, seal, and again"))
	f.Fuzz(func(t *testing.T, n, first, second uint8, steps []byte) {
		cost := []float64{float64(first), float64(second)}
		const age = 100 * time.Millisecond
		c := leasing.NewChunk(float64(n), cost, began, age)
		calls, left := int(n), [2]int{int(n) * int(first), int(n) * int(second)}
		sealed, now := false, began
		for i, step := range steps {
			a, b := int(step)*7%64, int(step)*13%64
			switch step % 8 {
			case 0, 1, 2, 3:
				want := !sealed && calls >= 1 && a <= left[0] && b <= left[1] && now.Before(began.Add(90*time.Millisecond))
				if got := c.Spend(now, []float64{float64(a), float64(b)}); got != want {
					t.Fatalf("step %d: spend %d, %d: %v with %d calls, %v", i, a, b, got, calls, left)
				}
				if want {
					calls, left[0], left[1] = calls-1, left[0]-a, left[1]-b
				}
			case 4, 5:
				back := int(step>>3) % 2
				a, b = a-32, b-32
				if got := c.Correct([]float64{float64(a), float64(b)}, float64(back)); got == sealed {
					t.Fatalf("step %d: a correction: %v, sealed %v", i, got, sealed)
				}
				if !sealed {
					calls, left[0], left[1] = calls+back, left[0]-a, left[1]-b
				}
			case 6:
				now = now.Add(time.Duration(step>>3) * time.Millisecond)
			case 7:
				units, n, first := c.Seal()
				if first == sealed || n != float64(calls) || units[0] != float64(left[0]) || units[1] != float64(left[1]) {
					t.Fatalf("step %d: sealed with %v calls and %v, want %d and %v", i, n, units, calls, left)
				}
				sealed = true
			}
			if want := float64(calls); !sealed && c.Left() != want {
				t.Fatalf("step %d: %v are left, want %v", i, c.Left(), want)
			}
		}
	})
}
