package throttle

import (
	"fmt"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

func TestCeilingsAreExactWholeNumbers(t *testing.T) {
	tests := []struct {
		amount int64
		share  float64
		want   float64
	}{
		{100, 0.29, 29},
		{10, 0.6, 6},
		{100, 0.57, 57},
		{1000, 0.333333, 333},
		{3, 0.5, 1},
		{1, 0.6, 1},
		{1, 1, 1},
		{10, 0.01, 1},
		{10, 1e-9, 1},
		{10, math.SmallestNonzeroFloat64, 1},
		{MaxAmount, 1e-6, 1e9},
		{MaxAmount, 0.6, 6e14},
		{MaxAmount, 0.999999, 999_999_000_000_000},
		{MaxAmount - 1, 0.999999, 999_998_999_999_999},
		{MaxAmount, 1, MaxAmount},
	}
	for _, tt := range tests {
		if got := newCeiling(Requests(tt.amount, time.Minute), tt.share).amount; got != tt.want {
			t.Errorf("%v of %d is %v, want %v", tt.share, tt.amount, got, tt.want)
		}
	}
}

func FuzzCeiling(f *testing.F) {
	f.Add(int64(100), int64(290_000))
	f.Add(int64(MaxAmount), int64(999_999))
	f.Add(int64(7), int64(1))
	f.Fuzz(func(t *testing.T, amount, millionths int64) {
		amount, millionths = within(amount, 1, MaxAmount), within(millionths, 1, whole)
		l := Limit{Amount: amount, Per: time.Minute, Algorithm: TokenBucket, Burst: 1 + amount/3}
		got := newCeiling(l, float64(millionths)/whole)
		part := func(n int64) float64 {
			x := new(big.Int).Mul(big.NewInt(n), big.NewInt(millionths))
			return float64(max(1, x.Quo(x, big.NewInt(whole)).Int64()))
		}
		if want := (ceiling{float64(millionths), part(amount), part(l.Burst)}); got != want {
			t.Errorf("%d millionths of %v: %v, want %v", millionths, l, got, want)
		}
	})
}

func TestEveryLaneHasItsCeilingOfAmountAndBurst(t *testing.T) {
	ls := []lanes.Lane{lanes.Live, lanes.Background, {Name: "batch", Share: 0.1}}
	s := newSpec(Requests(100, time.Minute).Using(TokenBucket).WithBurst(20), ls, "")
	want := []ceiling{{whole, 100, 20}, {600_000, 60, 12}, {100_000, 10, 2}}
	if fmt.Sprint(s.ceilings) != fmt.Sprint(want) {
		t.Errorf("ceilings %v, want %v", s.ceilings, want)
	}
	window := newSpec(Requests(100, time.Minute), ls, "")
	for lane := range ls {
		if got := s.most(lane); got != want[lane].burst {
			t.Errorf("lane %d: most of a bucket is %v, want its burst %v", lane, got, want[lane].burst)
		}
		if got := window.most(lane); got != want[lane].amount {
			t.Errorf("lane %d: most of a window is %v, want its amount %v", lane, got, want[lane].amount)
		}
	}
}

func TestLabelsTellCountersApart(t *testing.T) {
	pers := []time.Duration{MinPer, MinPer + time.Microsecond, time.Second, time.Minute, time.Hour, 24 * time.Hour, MaxPer - time.Microsecond, MaxPer}
	inFlight := newSpec(InFlight(1), nil, "")
	if inFlight.label != heldLabel {
		t.Errorf("calls in flight have the label %v, want %v", inFlight.label, heldLabel)
	}
	seen := map[float64]string{inFlight.label: "calls in flight"}
	for _, per := range pers {
		for unit := range UnitInFlight {
			for algorithm := range len(algorithmNames) {
				l := Limit{Unit: unit, Amount: 1, Per: per, Algorithm: Algorithm(algorithm)}
				s := newSpec(l, nil, "")
				name := fmt.Sprint(l.Unit, l.Per, l.Algorithm)
				if other := seen[s.label]; other != "" {
					t.Errorf("%s and %s have the same label", name, other)
				}
				if s.label >= 1<<53 || s.label != math.Trunc(s.label) {
					t.Errorf("%s: label %v isn't exact", name, s.label)
				}
				seen[s.label] = name
			}
		}
	}
}

// A changed amount keeps what was counted.
func TestLabelsDontDependOnTheAmount(t *testing.T) {
	a := newSpec(Requests(10, time.Minute), nil, "x")
	b := newSpec(Requests(1000, time.Minute), nil, "y")
	if a.label != b.label {
		t.Errorf("labels %v and %v", a.label, b.label)
	}
}

func TestOffsets(t *testing.T) {
	l := Requests(10, time.Minute)
	if s := newSpec(l, nil, "a"); s.offset != 0 {
		t.Errorf("no offset became %v", s.offset)
	}
	l.Offset = 7 * time.Second
	if s := newSpec(l, nil, "a"); s.offset != 7e6 {
		t.Errorf("7 s became %v µs", s.offset)
	}
}

func TestNegativeOffsetsSpreadTheWindows(t *testing.T) {
	l := Requests(10, time.Minute)
	l.Offset = -1
	tenths := [10]int{}
	for i := range 1000 {
		where := fmt.Sprintf("account%d/budget/0", i)
		s := newSpec(l, nil, where)
		if s.offset < 0 || s.offset >= s.per || s.offset != math.Trunc(s.offset) {
			t.Fatalf("%s: offset %v", where, s.offset)
		}
		if again := newSpec(l, nil, where); again.offset != s.offset {
			t.Fatalf("%s: offset %v, then %v: processes would disagree", where, s.offset, again.offset)
		}
		tenths[int(s.offset/s.per*10)]++
	}
	for i, n := range tenths {
		if n < 50 || n > 150 {
			t.Errorf("tenth %d of the window has %d of 1000 offsets", i, n)
		}
	}
}

func TestLimitsOfOneBudgetSpreadApart(t *testing.T) {
	l := Requests(10, time.Minute)
	l.Offset = -1
	m := Tokens(10, time.Minute)
	m.Offset = -1
	specs := compileLimits([]Limit{l, m}, lanes.Default(), "a/b")
	if len(specs) != 2 || specs[0].offset == specs[1].offset {
		t.Errorf("offsets %v and %v", specs[0].offset, specs[1].offset)
	}
}

func TestMicrosecondsRoundUpAndDurationsSaturate(t *testing.T) {
	for d, want := range map[time.Duration]float64{0: 0, 1: 1, 999: 1, 1000: 1, 1001: 2, time.Second: 1e6, MaxPer: float64(MaxPer.Microseconds())} {
		if got := microsOf(d); got != want {
			t.Errorf("microsOf(%v) = %v, want %v", d, got, want)
		}
	}
	for micros, want := range map[float64]time.Duration{
		0: 0, 1: time.Microsecond, 1e6: time.Second, maxWait: maxWait * time.Microsecond, 1e16: math.MaxInt64, math.Inf(1): math.MaxInt64,
	} {
		if got := durationOf(micros); got != want {
			t.Errorf("durationOf(%v) = %v, want %v", micros, got, want)
		}
	}
}

func TestTheLongestDurationIsNotNegative(t *testing.T) {
	if got := microsOf(math.MaxInt64); got <= 0 {
		t.Errorf("microsOf(MaxInt64) = %v", got)
	}
}
