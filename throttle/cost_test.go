package throttle

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestUnitsOfACost(t *testing.T) {
	c := Cost{Requests: 1, InputTokens: 20, CachedTokens: 15, OutputTokens: 300, Points: 4000, MicroUSD: 50_000}
	for unit, want := range map[Unit]float64{
		UnitRequests: 1, UnitTokens: 320, UnitInputTokens: 20, UnitOutputTokens: 300,
		UnitPoints: 4000, UnitMicroUSD: 50_000, UnitInFlight: 0, Unit(99): 0,
	} {
		if got := c.units(unit); got != want {
			t.Errorf("%v: %v, want %v", unit, got, want)
		}
	}
}

// The cap is above every limit, so a huge cost is too large and never wraps
// around to a free one.
func TestHugeCostsSaturateAboveEveryLimit(t *testing.T) {
	for _, n := range []int64{math.MaxInt64, math.MaxInt64 - 1, 9e18, costCap, costCap + 1} {
		c := Cost{Requests: n, InputTokens: n, OutputTokens: n, Points: n, MicroUSD: n}
		for unit := range UnitInFlight {
			if got := c.units(unit); got <= MaxAmount || got > 1<<53 {
				t.Errorf("%d: %v units of %v", n, got, unit)
			}
		}
	}
	if got := (&Cost{Points: math.MaxInt32}).units(UnitPoints); got != math.MaxInt32 {
		t.Errorf("MaxInt32 became %v", got)
	}
}

func TestNegativeFieldsAreFoundByName(t *testing.T) {
	for want, c := range map[string]Cost{
		"":             {Requests: 1, InputTokens: math.MaxInt64},
		"Requests":     {Requests: -1},
		"InputTokens":  {InputTokens: math.MinInt64},
		"CachedTokens": {CachedTokens: -1},
		"OutputTokens": {OutputTokens: -1, Points: 5},
		"Points":       {Points: -1},
		"MicroUSD":     {MicroUSD: -1},
	} {
		field, n := c.negative()
		if field != want || (n < 0) != (want != "") {
			t.Errorf("%+v: %q, %d, want %q", c, field, n, want)
		}
	}
}

func TestSettlingKeepsTheEstimateOfUnknownFields(t *testing.T) {
	estimate := Cost{Requests: 2, InputTokens: 10, CachedTokens: 5, OutputTokens: 100, Points: 7, MicroUSD: 9}
	tests := []struct {
		name         string
		actual, want Cost
	}{
		{"nothing known", Cost{-1, -1, -1, -1, -1, -1}, estimate},
		{"least possible numbers", Cost{math.MinInt64, math.MinInt64, -1, -1, -1, math.MinInt64}, estimate},
		{"zero is known, but for the request that was sent", Cost{}, Cost{Requests: 2}},
		{"everything known", Cost{3, 11, 6, 90, 8, 10}, Cost{3, 11, 6, 90, 8, 10}},
		{"output unknown", Cost{0, 11, 0, -1, 0, 0}, Cost{2, 11, 0, 100, 0, 0}},
	}
	for _, tt := range tests {
		if got := estimate.settledOver(tt.actual); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestAddingCostsSaturates(t *testing.T) {
	const most = math.MaxInt64
	sum := Cost{most, most, most, most, most, most}.plus(Cost{1, most, 1, most, 2, most - 1})
	if want := (Cost{most, most, most, most, most, most}); sum != want {
		t.Errorf("%+v", sum)
	}
	if got, want := (Cost{1, 2, 3, 4, 5, 6}).plus(Cost{10, 20, 30, 40, 50, 60}), (Cost{11, 22, 33, 44, 55, 66}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAGuessIsClampedToWhatCanEverGo(t *testing.T) {
	tests := []struct {
		name           string
		c              Cost
		unit           Unit
		most           float64
		stated, wanted Cost
	}{
		{"fits", Cost{InputTokens: 40, OutputTokens: 60}, UnitTokens, 100, Cost{}, Cost{InputTokens: 40, OutputTokens: 60}},
		{"output gives way first", Cost{InputTokens: 40, OutputTokens: 400}, UnitTokens, 100, Cost{}, Cost{InputTokens: 40, OutputTokens: 60}},
		{"then input", Cost{InputTokens: 400, OutputTokens: 400}, UnitTokens, 100, Cost{}, Cost{InputTokens: 100}},
		{"never below what is stated", Cost{InputTokens: 400, OutputTokens: 30}, UnitTokens, 100, Cost{InputTokens: 90, OutputTokens: 20}, Cost{InputTokens: 90, OutputTokens: 20}},
		{"stated too large stays", Cost{InputTokens: 400}, UnitInputTokens, 100, Cost{InputTokens: 300}, Cost{InputTokens: 300}},
		{"input alone", Cost{InputTokens: 400, OutputTokens: 999}, UnitInputTokens, 100, Cost{}, Cost{InputTokens: 100, OutputTokens: 999}},
		{"output alone", Cost{InputTokens: 400, OutputTokens: 999}, UnitOutputTokens, 100, Cost{}, Cost{InputTokens: 400, OutputTokens: 100}},
		{"huge output alone", Cost{OutputTokens: math.MaxInt64}, UnitOutputTokens, 100, Cost{}, Cost{OutputTokens: 100}},
		{"points", Cost{Points: math.MaxInt64}, UnitPoints, 100, Cost{Points: 7}, Cost{Points: 100}},
		{"cached are part of input", Cost{InputTokens: 400, CachedTokens: 300}, UnitInputTokens, 100, Cost{}, Cost{InputTokens: 100, CachedTokens: 100}},
		{"requests are never a guess", Cost{Requests: 5}, UnitRequests, 1, Cost{}, Cost{Requests: 5}},
	}
	for _, tt := range tests {
		if got := tt.c.clampTo(tt.unit, tt.most, tt.stated); got != tt.wanted {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.wanted)
		}
	}
}

func TestAClampedGuessFitsOrIsWhatWasStated(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 0))
	n := func() int64 { return rnd.Int64N(1 << (1 + rnd.IntN(49))) } // up to 5e14
	for range 20_000 {
		stated := Cost{InputTokens: n(), CachedTokens: 0, OutputTokens: n()}
		c := stated.plus(Cost{InputTokens: n(), OutputTokens: n()})
		unit, most := UnitTokens+Unit(rnd.IntN(3)), float64(1+n())
		got := c.clampTo(unit, most, stated)
		if got.InputTokens < stated.InputTokens || got.OutputTokens < stated.OutputTokens {
			t.Fatalf("%+v became %+v, below what was stated, %+v", c, got, stated)
		}
		if got.units(unit) > max(most, stated.units(unit)) {
			t.Fatalf("%+v became %+v, more than %v of %v", c, got, most, unit)
		}
		if got.units(unit) < min(most, c.units(unit)) {
			t.Fatalf("%+v became %+v, lower than needed for %v of %v", c, got, most, unit)
		}
	}
}

func TestAHugeGuessIsClampedBesideAStatedCost(t *testing.T) {
	got := Cost{InputTokens: 1000, OutputTokens: 9e18}.clampTo(UnitTokens, 100_000, Cost{InputTokens: 1000})
	if got.units(UnitTokens) > 100_000 {
		t.Errorf("%+v is above the ceiling: the call is refused as too large", got)
	}
}
