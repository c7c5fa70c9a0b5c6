package headgate

import (
	"context"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// A Trace is told what a Transport does with the requests of a context, for spans
// and logs of single requests; counts are throttle.Config.Observe's part. A hook
// that is nil isn't called. The hooks run on the goroutine of RoundTrip, one at a
// time for a request, and must not block.
type Trace struct {
	// Decided is called after each decision. A request has several where it is
	// repeated or goes to a backup model.
	Decided func(Decision)
	// Judged is called after each answer of the vendor, once its header was judged.
	Judged func(throttle.Verdict)
}

// A Decision is what the throttle said to one attempt of a request.
type Decision struct {
	// Model is the one that was asked for, a backup's name included.
	Model string
	// Wait is how long the decision took: the store's round trip, and the wait for
	// room. Never negative.
	Wait time.Duration
	// Probe is whether the attempt is the probe of a refused key, and DryRun
	// whether it goes in a dry run only, where it would have been denied or delayed.
	Probe, DryRun bool
	// Err is the denial, as RoundTrip has it; nil: the attempt goes.
	Err error
}

type traceKey struct{}

// WithTrace returns a context whose requests are told to trace, after the trace
// of ctx, if it has one.
func WithTrace(ctx context.Context, trace Trace) context.Context {
	outer, _ := ctx.Value(traceKey{}).(*Trace)
	if outer != nil {
		trace.Decided = both(outer.Decided, trace.Decided)
		trace.Judged = both(outer.Judged, trace.Judged)
	}
	return context.WithValue(ctx, traceKey{}, &trace)
}

// both returns a hook that calls the two, of which either may be nil.
func both[T any](first, second func(T)) func(T) {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	}
	return func(v T) { first(v); second(v) }
}

// acquire asks the throttle, and tells the request's trace what it said.
func (t *Transport) acquire(ctx context.Context, call throttle.Call) (throttle.Permit, error) {
	trace, _ := ctx.Value(traceKey{}).(*Trace)
	if trace == nil || trace.Decided == nil {
		return t.throttle.Acquire(ctx, call)
	}
	start := time.Now()
	permit, err := t.throttle.Acquire(ctx, call)
	trace.Decided(Decision{
		Model: call.Model, Wait: max(0, time.Since(start)), Probe: permit.Probe(), DryRun: permit.DryRun(), Err: err,
	})
	return permit, err
}

// tellJudged tells the request's trace what its answer means.
func tellJudged(ctx context.Context, v throttle.Verdict) {
	if trace, _ := ctx.Value(traceKey{}).(*Trace); trace != nil && trace.Judged != nil {
		trace.Judged(v)
	}
}
