package throttle

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestMisuseIsNamedWhereItHappens(t *testing.T) {
	made := testThrottle(t, Config{})
	var none context.Context
	some := context.Background()
	methods := map[string]func(th *Throttle, ctx context.Context){
		"Acquire":    func(th *Throttle, ctx context.Context) { _, _ = th.Acquire(ctx, testCall) },
		"Check":      func(th *Throttle, ctx context.Context) { _ = th.Check(ctx, testCall) },
		"Fit":        func(th *Throttle, ctx context.Context) { _ = th.Fit(ctx, testCall, Cost{}) },
		"Pause":      func(th *Throttle, ctx context.Context) { _ = th.Pause(ctx, testCall, ScopeModel, time.Second) },
		"Resume":     func(th *Throttle, ctx context.Context) { _ = th.Resume(ctx, testCall, ScopeModel) },
		"Probe":      func(th *Throttle, ctx context.Context) { _ = th.Probe(ctx, testCall) },
		"Status":     func(th *Throttle, ctx context.Context) { _, _ = th.Status(ctx) },
		"SetBudgets": func(th *Throttle, _ context.Context) { _ = th.SetBudgets(nil) },
		"Close":      func(th *Throttle, _ context.Context) { _ = th.Close() },
	}
	panics := func(what, want string, f func()) {
		t.Helper()
		defer func() {
			if said, _ := recover().(string); !strings.HasPrefix(said, "headgate: "+want) {
				t.Errorf("%s: panic %q, want %q", what, said, want)
			}
		}()
		f()
	}
	for name, f := range methods {
		panics(name+" of nil", name+" of a Throttle", func() { f(nil, some) })
		panics(name+" of a zero one", name+" of a Throttle", func() { f(&Throttle{}, some) })
		if name != "SetBudgets" && name != "Close" {
			panics(name+" with no context", name+" without a context", func() { f(made, none) })
		}
	}
}
