package headgateotel

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// gauges are the instruments that show a throttle's state.
type gauges struct {
	used, amount, waiting, leased, refused, outage metric.Int64ObservableGauge
	pause, factor                                  metric.Float64ObservableGauge
}

func (g *gauges) make(m metric.Meter) error {
	var errs []error
	whole := func(name, unit, text string) metric.Int64ObservableGauge {
		i, err := m.Int64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(text))
		errs = append(errs, err)
		return i
	}
	real := func(name, unit, text string) metric.Float64ObservableGauge {
		i, err := m.Float64ObservableGauge(name, metric.WithUnit(unit), metric.WithDescription(text))
		errs = append(errs, err)
		return i
	}
	g.used = whole("headgate.limit.used", "{unit}", "How much of a limit the fleet has used, in the limit's unit.")
	g.amount = whole("headgate.limit.amount", "{unit}", "How much a limit allows, in its unit.")
	g.waiting = whole("headgate.calls.waiting", "{call}", "Calls of this process that wait.")
	g.leased = whole("headgate.calls.leased", "{call}", "Calls that this process can send without asking the store.")
	g.refused = whole("headgate.keys.refused", "{key}", "Keys that the vendor refuses.")
	g.outage = whole("headgate.store.outage", "1", "1 while the store or a part of it is out of reach, else 0.")
	g.pause = real("headgate.pause.remaining", "s", "How much is left of a budget's pause.")
	g.factor = real("headgate.estimate.factor", "1", "By what guesses of tokens are multiplied.")
	return errors.Join(errs...)
}

func (g *gauges) all() []metric.Observable {
	return []metric.Observable{g.used, g.amount, g.waiting, g.leased, g.refused, g.outage, g.pause, g.factor}
}
