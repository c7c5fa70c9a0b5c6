package throttle

import (
	"flag"
	"testing"
	"time"
)

var (
	fleetSeed  = flag.Int64("fleets.seed", -1, "run the one random fleet of this seed")
	fleetFirst = flag.Uint64("fleets.first", 0, "the first seed")
	fleetCount = flag.Uint64("fleets.n", 200, "run so many random fleets")
	fleetTime  = flag.Duration("fleets.for", 0, "run random fleets for so long")
)

// Random fleets, over a store that is slow and loses things, never break a
// rule: after every claim everything is as an exact model says that knows
// nothing but the rules and what was charged.
func TestRandomFleets(t *testing.T) {
	if *fleetSeed >= 0 {
		runFleet(t, uint64(*fleetSeed))
		return
	}
	began := time.Now()
	fleets, steps, claims, calls, denied := 0, 0, 0, 0, 0
	for seed := *fleetFirst; !t.Failed(); seed++ {
		if *fleetTime > 0 && time.Since(began) > *fleetTime || *fleetTime == 0 && seed-*fleetFirst >= *fleetCount {
			break
		}
		f := runFleet(t, seed)
		fleets, steps, claims = fleets+1, steps+f.steps, claims+f.claims
		calls, denied = calls+f.admits, denied+f.denials
	}
	t.Logf("%d fleets in %v: %d steps, %d claims, %d calls went, %d were denied", fleets, time.Since(began).Round(time.Second), steps, claims, calls, denied)
}
