package main

import (
	"context"
	"fmt"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// grows compares the last contestant with the first.
func (b *bench) grows(c contest, what string, bound float64) {
	o := b.hold(c)
	first, last := c.of[0].name, c.of[len(c.of)-1].name
	why := ""
	for _, p := range c.of {
		why += fmt.Sprintf("%s: %.2f µs; ", p.name, median(o.times(p.name))/1e3)
	}
	b.atMost("growth", what, o.slower(last, first), bound, "x", why[:len(why)-2])
}

func (b *bench) manyBudgets() {
	c := contest{name: "budgets", workers: 1}
	for _, n := range []int{10, 1000, 10_000} {
		models := modelNames(n)
		t := b.throttle(limited(models...))
		ctx, at := context.Background(), 0
		for _, m := range models {
			b.must(once(t, callOf(m)))
		}
		c.of = append(c.of, contestant{fmt.Sprint(n), func(int) error {
			at = (at + 7919) % n
			p, err := t.Acquire(ctx, callOf(models[at]))
			if err == nil {
				p.Settle(settled)
			}
			return err
		}})
	}
	b.grows(c, "10 000 budgets against 10", 3)
}

func (b *bench) manyLimits() {
	c := contest{name: "limits", workers: 1}
	for _, n := range []int{1, 2, 4, 8} {
		cfg := limited("m")
		cfg.Account, cfg.Budgets[0].Limits = nil, nil
		for i := range n {
			l := throttle.Requests(throttle.MaxAmount, time.Minute*time.Duration(i+1))
			cfg.Budgets[0].Limits = append(cfg.Budgets[0].Limits, l)
		}
		t := b.throttle(b.inRedis(cfg, fmt.Sprintf("limits-%d", n)))
		c.of = append(c.of, contestant{fmt.Sprint(n), func(int) error { return once(t, callOf("m")) }})
	}
	b.grows(c, "8 limits of a budget against 1", 2)
}

// manyProcesses: throttles that share one Redis, and the calls between them.
func (b *bench) manyProcesses() {
	c := contest{name: "processes", workers: 64}
	for _, n := range []int{1, 4, 16} {
		var each []job
		for range n {
			each = append(each, calling(b.throttle(b.inRedis(limited("m"), fmt.Sprintf("processes-%d", n))), "m"))
		}
		c.of = append(c.of, contestant{fmt.Sprint(n), func(w int) error { return each[w%n](w) }})
	}
	b.grows(c, "64 callers in 16 processes against one", 16)
}
