package main

import (
	"fmt"
	"time"

	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/throttle"
)

// onLease leases by demand.
func onLease(c throttle.Config) throttle.Config {
	c.Lease = leasing.Auto()
	return c
}

// leased: units that were claimed ahead are spent without asking.
func leased(b *bench) {
	t := b.throttle(onLease(b.inRedis(limited("m"), "leased")))
	floor := b.hold(contest{name: "floor, 1", workers: 1, of: []contestant{b.evalsha(b.server.Addr)}})
	for _, callers := range []int{1, 64, 512} {
		o := b.hold(contest{name: fmt.Sprintf("leased, %d", callers), workers: callers, of: []contestant{
			allowing(), {alone, calling(t, "m")}, mutexAndClock(), failsafe(),
		}})
		bound := 1.0
		if callers == 1 {
			bound = 1.5
		}
		b.atMost("leased", fmt.Sprintf("%d: time against x/time/rate's Allow", callers), o.slower(alone, "x/time/rate"), bound, "x",
			fmt.Sprintf("%.5f round trips a call", o.scripts(alone)))
		b.atMost("leased", fmt.Sprintf("%d: allocations", callers), o.allocs(alone), 0.01, "", "")
	}
	trip := median(floor.times("go-redis EVALSHA")) / 1e3
	b.steadily(t, "a near Redis", trip)
}

// steadily measures leased calls at a steady pace, beside how long a round trip
// takes, in microseconds. where says which Redis that is.
func (b *bench) steadily(t *throttle.Throttle, where string, trip float64) {
	do := calling(t, "m")
	_, err := latencies(do, 8, 1000, time.Second) // until demand is known
	b.must(err)
	from := b.scriptStats()
	took, err := latencies(do, 8, 1000, 20*b.slice)
	b.must(err)
	trips := float64(b.scriptStats().calls-from.calls) / float64(len(took))
	what := "1 000 calls/s leased from " + where
	why := fmt.Sprintf("p50 %.1f µs, p99 %.1f µs; a round trip takes %.0f µs", median(took), quantile(took, 0.99), trip)
	b.atMost("leased", what+": p99 against a round trip", quantile(took, 0.99)/trip, 1, "x", why)
	b.atMost("trips", what, trips, 0.02, "", "")
}
