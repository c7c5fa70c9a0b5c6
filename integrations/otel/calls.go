package headgateotel

import (
	"context"
	"errors"
	"sync"

	"github.com/headgate-go/headgate/throttle"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// calls are the instruments that count decisions.
type calls struct {
	decisions metric.Int64Counter
	wait      metric.Float64Histogram
	sets      sync.Map // of decision to metric.MeasurementOption; bounded as its fields are
}

// A decision is what decisions are told apart by.
type decision struct {
	outcome, reason, budget, lane string
	dryRun                        bool
}

func (c *calls) make(m metric.Meter) error {
	var err, errWait error
	c.decisions, err = m.Int64Counter("headgate.decisions", metric.WithUnit("{call}"),
		metric.WithDescription("Decisions about calls, by outcome and reason."))
	c.wait, errWait = m.Float64Histogram("headgate.wait.duration", metric.WithUnit("s"),
		metric.WithDescription("How long calls waited that went."),
		metric.WithExplicitBucketBoundaries(0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300))
	return errors.Join(err, errWait)
}

// count counts an event of a decision.
func (c *calls) count(e throttle.Event, budget string) {
	attributes := c.attributes(decision{e.Kind.String(), reasonOf(e.Err), budget, e.Lane, e.DryRun})
	c.decisions.Add(context.Background(), 1, attributes)
	if e.Kind != throttle.EventDenied && !e.DryRun { // what a dry run would have waited, nobody did
		c.wait.Record(context.Background(), e.Wait.Seconds(), attributes)
	}
}

// attributes returns the decision's, without making them anew for every call.
func (c *calls) attributes(d decision) metric.MeasurementOption {
	if set, ok := c.sets.Load(d); ok {
		return set.(metric.MeasurementOption)
	}
	list := []attribute.KeyValue{outcomeKey.String(d.outcome), budgetKey.String(d.budget), laneKey.String(d.lane)}
	if d.reason != "" {
		list = append(list, reasonKey.String(d.reason))
	}
	if d.dryRun {
		list = append(list, dryRunKey.Bool(true))
	}
	set, _ := c.sets.LoadOrStore(d, metric.WithAttributeSet(attribute.NewSet(list...)))
	return set.(metric.MeasurementOption)
}
