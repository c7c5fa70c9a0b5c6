package main

import (
	"fmt"
	"time"

	"github.com/headgate-go/headgate/internal/faultproxy"
)

// away is how long it takes to the far Redis and back.
const away = 2400 * time.Microsecond

// distance: Redis is in another place, behind a relay that holds everything
// back for half the way there and half the way back.
func distance(b *bench) {
	relay := faultproxy.New(b.host, b.server.Addr)
	relay.Delay(faultproxy.Both, away/2)
	c := limited("m")
	c.Store = b.storeAt(relay.Addr, "far")
	t := b.throttle(c)
	of := []contestant{{alone, calling(t, "m")}, b.rueidisEvalsha(relay.Addr), b.redisRate(relay.Addr)}
	for _, callers := range []int{64, 512} {
		o := b.hold(contest{name: fmt.Sprintf("far, %d", callers), workers: callers, of: of, slice: 2 * b.slice})
		why := fmt.Sprintf("%.3f round trips a call", o.scripts(alone))
		if callers == 64 {
			b.atLeast("far", "64: throughput against rueidis EVALSHA", o.faster(alone, "rueidis EVALSHA"), 1.1, "x", why)
		} else {
			b.atLeast("far", "512: throughput against redis_rate", o.faster(alone, "redis_rate"), 15, "x", why)
		}
	}
	l := limited("m")
	l.Store = b.storeAt(relay.Addr, "far-leased")
	b.steadily(b.throttle(onLease(l)), "a far Redis", relay.Addr)
}
