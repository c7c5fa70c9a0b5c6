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
	b.steadily(t, "a near Redis", b.server.Addr)
}

// steadily measures leased calls at a steady pace, beside plain round trips at
// the same. where says to which Redis, and addr is its address.
func (b *bench) steadily(t *throttle.Throttle, where, addr string) {
	do, d := calling(t, "m"), 10*b.slice
	_, err := latencies(do, 8, 1000, time.Second) // until demand is known
	b.must(err)
	var took, trips []float64
	claims := int64(0)
	floor := b.evalsha(addr)
	for range turns {
		from := b.scriptStats()
		some, err := latencies(do, 8, 1000, d)
		b.must(err)
		claims += b.scriptStats().calls - from.calls
		took = append(took, some...)
		some, err = latencies(floor.do, 8, 1000, d/2)
		b.must(err)
		trips = append(trips, some...)
	}
	what, trip := "1 000 calls/s leased from "+where, median(trips)
	why := fmt.Sprintf("p50 %.1f µs, p99 %.1f µs; a round trip: p50 %.0f µs, p99 %.0f µs",
		median(took), quantile(took, 0.99), trip, quantile(trips, 0.99))
	b.atMost("leased", what+": p99 against a round trip's median", quantile(took, 0.99)/trip, 1, "x", why)
	b.atMost("trips", what, float64(claims)/float64(len(took)), 0.02, "", "")
}
