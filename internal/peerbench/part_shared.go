package main

import (
	"fmt"
)

// Names of contestants that goals refer to.
const (
	alone  = "headgate"
	spread = "headgate, 16 budgets"
)

// shared: the exact limits of a fleet, without leases: every call is decided in
// Redis.
func shared(b *bench) {
	one := b.throttle(b.inRedis(limited("m"), "one"))
	models := modelNames(16)
	many := b.throttle(b.inRedis(limited(models...), "many"))
	of := []contestant{
		{alone, calling(one, "m")},
		b.redisRate(b.server.Addr),
		b.rueidisLimiter(b.server.Addr),
		{spread, calling(many, models...)},
		b.evalsha(b.server.Addr),
		b.rueidisEvalsha(b.server.Addr),
		b.ulule(b.server.Addr),
		b.throttled(b.server.Addr),
	}
	for _, callers := range []int{1, 64, 512} {
		field := of
		if callers > 1 {
			field = of[:len(of)-1] // compare and swap by many is no contest
		}
		o := b.hold(contest{name: fmt.Sprintf("shared, %d", callers), workers: callers, of: field})
		for _, who := range []string{alone, spread} {
			b.sharedGoals(o, who)
		}
	}
}

func (b *bench) sharedGoals(o board, who string) {
	figure := fmt.Sprintf("%s, %d: ", who, o.workers)
	times := o.faster(who, "redis_rate")
	trips := fmt.Sprintf("%.3f round trips a call", o.scripts(who))
	limiter := o.faster(who, "rueidis limiter")
	switch o.workers {
	case 1:
		b.atMost("shared", figure+"time against redis_rate", o.slower(who, "redis_rate"), 1.15, "x", trips)
		if who == alone {
			b.atMost("trips", "a call alone", o.scripts(who), 1.001, "", "")
		}
	case 64:
		b.atLeast("shared", figure+"throughput against redis_rate", times, 4, "x", trips+"; never below 3x")
		b.atLeast("shared", figure+"throughput against rueidis limiter", limiter, 2, "x", "")
	default:
		b.atLeast("shared", figure+"throughput against redis_rate", times, 20, "x", trips)
		b.atLeast("shared", figure+"throughput against rueidis limiter", limiter, 8, "x", "")
		if who == alone {
			b.atMost("trips", "512 callers, unleased", o.scripts(who), 0.05, "", "")
		}
	}
}
