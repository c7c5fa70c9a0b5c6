package headgateotel

import (
	"context"
	"errors"
	"sync"

	"github.com/headgate-go/headgate/throttle"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// scopeName is the name of the meter.
const scopeName = "github.com/headgate-go/headgate/integrations/otel"

// DefaultMaxBudgets is how many budgets have a name of their own in attributes.
const DefaultMaxBudgets = 100

// Metrics are the instruments of one throttle. They come from New, are given to
// throttle.Config.Observe, and watch the throttle from Watch until Close. Safe for
// concurrent use.
//
// Counters: headgate.decisions {call} and the histogram headgate.wait.duration s,
// of the calls that went. Gauges, where each is the sum, or for limits, pauses and
// factors the highest, of all accounts and models of a budget:
// headgate.limit.used and headgate.limit.amount {unit}, headgate.calls.waiting and
// headgate.calls.leased {call}, headgate.pause.remaining s, headgate.keys.refused {key},
// headgate.store.outage 1 (1: out of reach, else 0) and headgate.estimate.factor 1.
type Metrics struct {
	meter   metric.Meter
	calls   calls
	budgets *names
	limits  *names

	mu           sync.Mutex // protects what follows
	registration metric.Registration
	closed       bool
}

// An Option changes how New makes Metrics. A nil Option is ignored.
type Option func(*options)

type options struct {
	provider   metric.MeterProvider
	maxBudgets int
}

// WithMeterProvider makes the instruments with p. nil: the global provider.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(o *options) { o.provider = p }
}

// WithMaxBudgets bounds how many budgets have a name of their own in attributes,
// the first ones that are seen; all others are "other". The name may be that of a model
// which no budget matches, and callers choose those. Below 1: DefaultMaxBudgets.
func WithMaxBudgets(n int) Option {
	return func(o *options) { o.maxBudgets = n }
}

// New returns Metrics that count what Observe is told. Its error is the meter's.
func New(opts ...Option) (*Metrics, error) {
	var o options
	for _, set := range opts {
		if set != nil {
			set(&o)
		}
	}
	if o.provider == nil {
		o.provider = otel.GetMeterProvider()
	}
	if o.maxBudgets < 1 {
		o.maxBudgets = DefaultMaxBudgets
	}
	m := &Metrics{meter: o.provider.Meter(scopeName), budgets: newNames(o.maxBudgets), limits: newNames(maxLimits)}
	return m, m.calls.make(m.meter)
}

// Observe counts a decision. It is made for throttle.Config.Observe, and doesn't
// block; it goes on counting after Close.
func (m *Metrics) Observe(e throttle.Event) {
	switch e.Kind {
	case throttle.EventAdmitted, throttle.EventDenied, throttle.EventProbe:
		m.calls.count(e, m.budgets.bounded(e.Budget))
	}
}

// Watch shows the state of th in the gauges until Close. They are read when the
// provider collects, and ask the store once then, at most 2 seconds; an error of
// it goes to OpenTelemetry's error handler, and the last figures are shown. Metrics
// watch one throttle. Watch doesn't take it over: close Metrics first.
func (m *Metrics) Watch(th *throttle.Throttle) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case th == nil:
		return errors.New("headgateotel: Watch: the throttle is nil")
	case m.closed:
		return errors.New("headgateotel: Watch: the metrics are closed")
	case m.registration != nil:
		return errors.New("headgateotel: Watch: another throttle is watched already")
	}
	var g gauges
	if err := g.make(m.meter); err != nil {
		return err
	}
	r, err := m.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		m.show(ctx, th, &g, o)
		return nil // with an error nothing at all would be exported
	}, g.all()...)
	m.registration = r
	return err
}

// Close ends the watch. It may be called more than once.
func (m *Metrics) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.registration == nil {
		return nil
	}
	r := m.registration
	m.registration = nil
	return r.Unregister()
}
