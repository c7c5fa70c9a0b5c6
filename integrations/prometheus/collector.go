package headgateprom

import (
	"errors"
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/headgate-go/headgate/throttle"
)

// A Collector is a prometheus.Collector for one throttle. It is safe for
// concurrent use. Make it with New.
type Collector struct {
	decisions *prometheus.CounterVec
	changes   *prometheus.CounterVec
	waits     *prometheus.HistogramVec

	mu       sync.Mutex
	throttle *throttle.Throttle
	budgets  map[string]bool
}

// New returns a collector that has counted nothing and follows no throttle.
func New() *Collector {
	return &Collector{
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "headgate_decisions_total", Help: "Calls by what was decided: admitted, probe, or why they were denied.",
		}, []string{"budget", "lane", "outcome", "dry_run"}),
		changes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "headgate_changes_total", Help: "Changes of state that this process made or heard of, by kind.",
		}, []string{"kind"}),
		waits: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "headgate_wait_seconds", Help: "How long calls waited before they were admitted.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"lane"}),
		budgets: map[string]bool{},
	}
}

// Follow has the collector tell the state of a throttle from now on, in place of
// the one before. nil: of none.
func (c *Collector) Follow(t *throttle.Throttle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.throttle = t
}

// Observe counts an event. It is meant for throttle.Config.Observe, alone or
// called from a function of yours, and never blocks.
func (c *Collector) Observe(e throttle.Event) {
	switch e.Kind {
	case throttle.EventAdmitted, throttle.EventProbe:
		c.decisions.WithLabelValues(c.budget(e.Budget), e.Lane, e.Kind.String(), strconv.FormatBool(e.DryRun)).Inc()
		if !e.DryRun {
			c.waits.WithLabelValues(e.Lane).Observe(e.Wait.Seconds())
		}
	case throttle.EventDenied:
		c.decisions.WithLabelValues(c.budget(e.Budget), e.Lane, outcomeOf(e.Err), strconv.FormatBool(e.DryRun)).Inc()
	default:
		c.changes.WithLabelValues(e.Kind.String()).Inc()
	}
}

// outcomeOf is why a call was denied.
func outcomeOf(err error) string {
	var denied *throttle.DeniedError
	if errors.As(err, &denied) {
		return denied.Code()
	}
	return "denied"
}

// maxBudgets is how many budgets are told apart.
const maxBudgets = 200

// budget is a budget's label.
func (c *Collector) budget(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.budgets[name] {
		if len(c.budgets) >= maxBudgets {
			return "other"
		}
		c.budgets[name] = true
	}
	return name
}
