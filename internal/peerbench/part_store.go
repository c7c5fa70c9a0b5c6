package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/headgate-go/headgate/internal/faultproxy"
	"github.com/headgate-go/headgate/throttle"
)

// memoryOfABudget: a budget with two limits.
func (b *bench) memoryOfABudget() {
	n := 5000
	if b.isQuick() {
		n = 200
	}
	models := modelNames(n)
	c := b.inRedis(throttle.Config{Budgets: []throttle.Budget{{
		Models: []string{"*"}, PerModel: true, Name: "each",
		Limits: []throttle.Limit{throttle.Requests(600, time.Minute), throttle.Tokens(150_000, time.Minute)},
	}}}, "headgate")
	t := b.throttle(c)
	before := b.usedMemory()
	for _, m := range models {
		b.must(once(t, callOf(m)))
	}
	used := (b.usedMemory() - before) / float64(n)
	own := b.recordSize("headgate:*:b:*")
	b.atMost("store", "bytes of a budget with two limits, by MEMORY USAGE", own, 250, "B", "")
	b.atMost("store", "bytes of a budget with two limits, by used_memory", used, 250, "B", fmt.Sprintf("%d budgets", n))
}

// recordSize is the median of what Redis says that keys of the pattern take.
func (b *bench) recordSize(pattern string) float64 {
	ctx, sizes := context.Background(), []float64(nil)
	keys := b.stats.Scan(ctx, 0, pattern, 1000).Iterator()
	for keys.Next(ctx) && len(sizes) < 100 {
		n, err := b.stats.MemoryUsage(ctx, keys.Val()).Result()
		b.must(err)
		sizes = append(sizes, float64(n))
	}
	b.must(keys.Err())
	return median(sizes)
}

// once is a call from start to end.
func once(t *throttle.Throttle, c throttle.Call) error {
	p, err := t.Acquire(context.Background(), c)
	if err == nil {
		p.Done()
	}
	return err
}

// memoryOfMany: many credentials, each an account of its own, with calls of
// three models; as many of them as fit into the time.
func (b *bench) memoryOfMany() {
	most, patience := int64(100_000), 40*time.Second
	if b.isQuick() {
		most = 1000
	}
	models := modelNames(3)
	t := b.throttle(b.inRedis(limited(models...), "many"))
	memory, heap, began := b.usedMemory(), heapInUse(), time.Now()
	var next, calls atomic.Int64
	do := func(int) error {
		i := next.Add(1)
		if i > most {
			return nil
		}
		c := throttle.Call{Key: throttle.FingerprintOf(fmt.Sprintf("sk-%d", i))}
		for _, c.Model = range models {
			if err := once(t, c); err != nil {
				return err
			}
		}
		calls.Add(3)
		return nil
	}
	for next.Load() < most && time.Since(began) < patience {
		_, _, err := work(do, 128, 100*time.Millisecond)
		b.must(err)
	}
	took, n := time.Since(began), float64(calls.Load())
	b.atMost("store", fmt.Sprintf("bytes of a budget, %.0f credentials with 3 models each", n/3), (b.usedMemory()-memory)/n, 250, "B",
		fmt.Sprintf("the account's limit included; %.1f µs a call; %.0f bytes a credential in the process", micros(took)/n, (heapInUse()-heap)/n*3))
}

func heapInUse() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// scriptTime: how long the script runs in Redis.
func (b *bench) scriptTime() {
	t := b.throttle(b.inRedis(limited("m"), "lone"))
	o := b.hold(contest{name: "script, one call", workers: 1, of: []contestant{
		{alone, calling(t, "m")}, b.redisRate(b.server.Addr),
	}})
	one := o.scriptRun("redis_rate")
	b.atMost("store", "script time of one call against redis_rate's", ratio(o.scriptRun(alone), one), 1.7, "x",
		fmt.Sprintf("%.1f µs and %.1f µs", median(o.scriptRun(alone)), median(one)))

	// So far away that everybody has come again before the next claim leaves.
	relay := faultproxy.New(b.host, b.server.Addr)
	relay.Delay(faultproxy.ToClient, 20*time.Millisecond)
	c := limited("m")
	c.Store = b.storeAt(relay.Addr, "full")
	full := b.throttle(c)
	of := []contestant{{"256 calls", func(int) error { return once(full, callOf("m")) }}}
	many := b.hold(contest{name: "script, 256 calls", workers: 512, of: of, slice: 2 * b.slice})
	trips := many.scripts("256 calls")
	b.atMost("store", "script time of 256 equal calls against redis_rate's one", ratio(many.scriptRun("256 calls"), one), 5, "x",
		strings.TrimSpace(fmt.Sprintf("%.0f calls a claim, %.1f µs", 1/trips, median(many.scriptRun("256 calls")))))
}
