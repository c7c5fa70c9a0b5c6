package throttle

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestConstructorsCountTheirUnit(t *testing.T) {
	tests := []struct {
		got  Limit
		unit Unit
		text string
	}{
		{Requests(600, time.Minute), UnitRequests, "600 requests per 1m0s"},
		{Tokens(600, time.Minute), UnitTokens, "600 tokens per 1m0s"},
		{InputTokens(600, time.Minute), UnitInputTokens, "600 input tokens per 1m0s"},
		{OutputTokens(600, time.Minute), UnitOutputTokens, "600 output tokens per 1m0s"},
		{Points(600, time.Minute), UnitPoints, "600 points per 1m0s"},
		{Dollars(0.0006, time.Minute), UnitMicroUSD, "600 micro-USD per 1m0s"},
		{InFlight(600), UnitInFlight, "600 calls in flight"},
	}
	for _, tt := range tests {
		want := Limit{Unit: tt.unit, Amount: 600, Per: time.Minute}
		if tt.unit == UnitInFlight {
			want.Per = 0
		}
		if tt.got != want {
			t.Errorf("%v: %+v, want %+v", tt.unit, tt.got, want)
		}
		if tt.got.String() != tt.text {
			t.Errorf("%q, want %q", tt.got, tt.text)
		}
	}
}

func TestDollarsAreExactToTheMillionthOrRefused(t *testing.T) {
	tests := map[float64]int64{
		0.29: 290_000, 1.1: 1_100_000, 100: 100_000_000, 0.000001: 1, 0: 0, 1e-9: 0,
		1e9: MaxAmount, 1e9 + 1: -1, 1e300: -1, -1: -1, -0.000001: -1,
		math.Inf(1): -1, math.Inf(-1): -1,
	}
	for usd, want := range tests {
		if got := Dollars(usd, time.Hour).Amount; got != want {
			t.Errorf("Dollars(%v) is %d micro-USD, want %d", usd, got, want)
		}
	}
	if got := Dollars(math.NaN(), time.Hour).Amount; got != -1 {
		t.Errorf("Dollars(NaN) is %d micro-USD", got)
	}
}

func TestWithAndUsingReturnCopies(t *testing.T) {
	l := Requests(10, time.Minute)
	b := l.Using(TokenBucket).WithBurst(5)
	if l != Requests(10, time.Minute) {
		t.Errorf("the limit itself became %+v", l)
	}
	if b.Algorithm != TokenBucket || b.Burst != 5 || b.Amount != 10 {
		t.Errorf("%+v", b)
	}
	if l.burst() != 10 || b.burst() != 5 {
		t.Errorf("bursts %d and %d, want 10 and 5", l.burst(), b.burst())
	}
}

func TestLimitsOutOfRangeNameTheField(t *testing.T) {
	valid := Requests(10, time.Minute)
	bucket := valid.Using(TokenBucket)
	tests := []struct {
		name  string
		limit Limit
		want  string
	}{
		{"amount 0", Requests(0, time.Minute), "Amount is 0"},
		{"amount -1", Requests(-1, time.Minute), "Amount is -1"},
		{"amount MaxInt64", Requests(math.MaxInt64, time.Minute), "Amount"},
		{"amount MinInt64", Requests(math.MinInt64, time.Minute), "Amount"},
		{"amount just too large", Requests(MaxAmount+1, time.Minute), "Amount"},
		{"dollars that are no number", Dollars(math.NaN(), time.Hour), "Amount is -1"},
		{"no dollars", Dollars(0, time.Hour), "Amount is 0"},
		{"per 0", Requests(10, 0), "Per"},
		{"per negative", Requests(10, -time.Minute), "Per"},
		{"per too short", Requests(10, MinPer-1), "Per"},
		{"per sub-microsecond", Requests(10, time.Second+1), "Per"},
		{"per too long", Requests(10, MaxPer+time.Microsecond), "Per"},
		{"per longest duration", Requests(10, math.MaxInt64), "Per"},
		{"unknown unit", Limit{Unit: 7, Amount: 1, Per: time.Second}, "Unit"},
		{"unknown algorithm", valid.Using(5), "Algorithm"},
		{"burst of a window", valid.WithBurst(5), "Burst"},
		{"burst negative", bucket.WithBurst(-1), "Burst"},
		{"burst too large", bucket.WithBurst(MaxAmount + 1), "Burst"},
		{"offset of a bucket", withOffset(bucket, time.Second), "Offset"},
		{"negative offset of a bucket", withOffset(bucket, -1), "Offset"},
		{"offset as long as per", withOffset(valid, time.Minute), "Offset"},
		{"offset sub-microsecond", withOffset(valid, 1), "Offset"},
	}
	for _, tt := range tests {
		err := tt.limit.validate()
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error about %s", tt.name, err, tt.want)
		}
		if errors.Is(err, ErrNotBuilt) {
			t.Errorf("%s: %v, which sounds as if it would come", tt.name, err)
		}
	}
}

func withOffset(l Limit, d time.Duration) Limit {
	l.Offset = d
	return l
}

func TestLimitsAtTheEdgeAreValid(t *testing.T) {
	valid := Requests(10, time.Minute)
	for name, l := range map[string]Limit{
		"smallest":         Requests(1, MinPer),
		"largest":          Requests(MaxAmount, MaxPer),
		"odd microseconds": Requests(1, time.Second+time.Microsecond),
		"largest burst":    valid.Using(TokenBucket).WithBurst(MaxAmount),
		"burst of one":     valid.Using(TokenBucket).WithBurst(1),
		"longest offset":   withOffset(valid, time.Minute-time.Microsecond),
		"dollars":          Dollars(0.000001, time.Hour),
		"fixed window":     valid.Using(FixedWindow),
		"sliding log":      valid.Using(SlidingLog),
		"pacing":           valid.Using(GCRA).WithBurst(1),
		"spread":           withOffset(valid, math.MinInt64),
	} {
		if err := l.validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestALimitOnCallsInFlightHasAnAmountAlone(t *testing.T) {
	if err := InFlight(5).validate(); err != nil {
		t.Error(err)
	}
	for field, l := range map[string]Limit{
		"Amount":    InFlight(0),
		"Per":       {Unit: UnitInFlight, Amount: 5, Per: time.Second},
		"Algorithm": InFlight(5).Using(GCRA),
		"Burst":     InFlight(5).WithBurst(2),
		"Offset":    {Unit: UnitInFlight, Amount: 5, Offset: time.Second},
	} {
		if err := l.validate(); err == nil || !strings.HasPrefix(err.Error(), field+" ") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestUnitsAndAlgorithmsHaveNames(t *testing.T) {
	for want, got := range map[string]string{
		"input tokens": UnitInputTokens.String(), "micro-USD": UnitMicroUSD.String(), "Unit(9)": Unit(9).String(),
		"SlidingWindow": SlidingWindow.String(), "GCRA": GCRA.String(), "Algorithm(9)": Algorithm(9).String(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
