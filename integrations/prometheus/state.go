package headgateprom

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-go/headgate/throttle"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("headgate_"+name, help, labels, nil)
}

var (
	limitUsed     = desc("limit_used", "Units of a limit in use by the whole fleet.", "budget", "limit")
	limitAmount   = desc("limit_amount", "Units that a limit has.", "budget", "limit")
	limitReported = desc("limit_reported", "Units that a limit has by the vendor's word, where that differs.", "budget", "limit")
	laneRoom      = desc("lane_room", "Units of a limit that a lane may still draw.", "budget", "limit", "lane")
	waitingCalls  = desc("waiting_calls", "Calls of this process that wait.", "budget", "lane")
	leasedCalls   = desc("leased_calls", "Calls that this process can send without asking.", "budget")
	pauseSeconds  = desc("pause_seconds", "Seconds until the end of the budget's or its account's pause.", "budget")
	factor        = desc("estimate_factor", "By what guesses of tokens are multiplied.", "budget", "direction")
	refusedKeys   = desc("refused_keys", "Keys that the vendor refuses, by class.", "class")
	processes     = desc("processes", "Processes that share the store.")
	storeUp       = desc("store_up", "Whether the store is in reach: 1 or 0.")
	storeHears    = desc("store_hears", "Whether notices of the store come through: 1 or 0.")
)

var states = []*prometheus.Desc{
	limitUsed, limitAmount, limitReported, laneRoom, waitingCalls, leasedCalls, pauseSeconds, factor,
	refusedKeys, processes, storeUp, storeHears,
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	c.decisions.Describe(out)
	c.changes.Describe(out)
	c.waits.Describe(out)
	for _, d := range states {
		out <- d
	}
}

// lookWait bounds what a scrape waits for the store.
const lookWait = 2 * time.Second

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	c.decisions.Collect(out)
	c.changes.Collect(out)
	c.waits.Collect(out)
	c.mu.Lock()
	t := c.throttle
	c.mu.Unlock()
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookWait)
	defer cancel()
	s, err := t.Status(ctx)
	g := gauges{}
	for i := range s.Budgets {
		c.addBudget(g, &s.Budgets[i])
	}
	for _, k := range s.Keys {
		g.add(refusedKeys, 1, k.Verdict.Class.String())
	}
	g.add(processes, float64(s.Live))
	g.add(storeUp, oneIf(!s.Outage && err == nil))
	g.add(storeHears, oneIf(s.Hears))
	g.send(out)
}

func (c *Collector) addBudget(g gauges, b *throttle.BudgetStatus) {
	name := c.budget(b.Budget)
	for _, l := range b.Limits {
		g.add(limitUsed, float64(l.Used), name, l.Limit)
		g.add(limitAmount, float64(l.Amount), name, l.Limit)
		if l.Reported > 0 {
			g.most(limitReported, float64(l.Reported), name, l.Limit)
		}
		for _, n := range l.Lanes {
			g.add(laneRoom, float64(n.Room), name, l.Limit, n.Lane)
		}
	}
	for lane, n := range b.WaitingBy {
		g.add(waitingCalls, float64(n), name, lane)
	}
	g.add(leasedCalls, float64(b.Leased), name)
	if b.Paused > 0 {
		g.most(pauseSeconds, b.Paused.Seconds(), name)
	}
	if b.GuessInput > 0 {
		g.most(factor, b.GuessInput, name, "input")
	}
	if b.GuessOutput > 0 {
		g.most(factor, b.GuessOutput, name, "output")
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// gauges are the figures of one scrape: by what they are, and their labels.
type gauges map[*prometheus.Desc]map[[3]string]float64

func (g gauges) of(d *prometheus.Desc, labels []string) (map[[3]string]float64, [3]string) {
	if g[d] == nil {
		g[d] = map[[3]string]float64{}
	}
	var key [3]string
	copy(key[:], labels)
	return g[d], key
}

func (g gauges) add(d *prometheus.Desc, n float64, labels ...string) {
	all, key := g.of(d, labels)
	all[key] += n
}

func (g gauges) most(d *prometheus.Desc, n float64, labels ...string) {
	all, key := g.of(d, labels)
	all[key] = max(all[key], n)
}

// labelsOf is how many labels each of them has.
var labelsOf = map[*prometheus.Desc]int{
	limitUsed: 2, limitAmount: 2, limitReported: 2, laneRoom: 3, waitingCalls: 2, leasedCalls: 1, pauseSeconds: 1,
	factor: 2, refusedKeys: 1, processes: 0, storeUp: 0, storeHears: 0,
}

func (g gauges) send(out chan<- prometheus.Metric) {
	for d, all := range g {
		for key, n := range all {
			out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, n, key[:labelsOf[d]]...)
		}
	}
}
