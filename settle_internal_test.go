package headgate

import (
	"testing"

	"github.com/headgate-go/headgate/throttle"
)

func TestRefundsOnlyWhereNothingWasGenerated(t *testing.T) {
	for _, c := range []struct {
		status int
		class  throttle.Class
		want   bool
	}{
		{200, throttle.OK, false},
		{301, throttle.OK, true},
		{404, throttle.OK, true}, // as a custom judge may see it
		{500, throttle.OK, false},
		{400, throttle.BadRequest, true},
		{200, throttle.BadRequest, true}, // refused inside a 200
		{401, throttle.KeyRefused, true},
		{429, throttle.CreditExhausted, true},
		{403, throttle.ModelDenied, true},
		{429, throttle.Busy, false},
		{529, throttle.Overloaded, false},
		{500, throttle.ServerError, false},
		{400, throttle.Class(200), false},
	} {
		if got := refunds(c.status, c.class); got != c.want {
			t.Errorf("refunds(%d, %v) = %v, want %v", c.status, c.class, got, c.want)
		}
	}
}

func TestAtLeastTakesTheLargerOfEachKnownField(t *testing.T) {
	estimate := throttle.Cost{Requests: 0, InputTokens: 100, OutputTokens: 400, Points: 5}
	for _, c := range []struct{ seen, want throttle.Cost }{
		{
			throttle.Cost{InputTokens: 70, CachedTokens: 60, OutputTokens: 900, Points: 5, MicroUSD: 12},
			throttle.Cost{InputTokens: 100, CachedTokens: 60, OutputTokens: 900, Points: 5, MicroUSD: 12},
		},
		{ // an unknown field stays unknown, so that an estimate made from a price stands
			throttle.Cost{Requests: -1, InputTokens: 170, CachedTokens: -1, OutputTokens: -1, Points: -1, MicroUSD: -1},
			throttle.Cost{Requests: -1, InputTokens: 170, CachedTokens: -1, OutputTokens: -1, Points: -1, MicroUSD: -1},
		},
	} {
		if got := atLeast(estimate, c.seen); got != c.want {
			t.Errorf("atLeast(%+v) = %+v, want %+v", c.seen, got, c.want)
		}
	}
}

func TestOverlaySetsOnlyWhatIsSet(t *testing.T) {
	lower := throttle.Call{Key: "k", Account: "a", Model: "m", Tenant: "t", Cost: throttle.Cost{InputTokens: 3, Points: 1}}
	if got := overlay(lower, throttle.Call{}); got != lower {
		t.Errorf("an empty Call changed %+v into %+v", lower, got)
	}
	upper := throttle.Call{Model: "n", Cost: throttle.Cost{OutputTokens: 2}}
	want := lower
	want.Model, want.Cost = "n", upper.Cost
	if got := overlay(lower, upper); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
