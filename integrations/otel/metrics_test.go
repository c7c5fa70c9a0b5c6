package headgateotel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

const secret = "sk-SECRET-0123456789"

// newMetrics returns metrics, and the reader that collects them.
func newMetrics(t *testing.T, opts ...Option) (*Metrics, *sdk.ManualReader) {
	t.Helper()
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	t.Cleanup(func() { provider.Shutdown(context.Background()) })
	m, err := New(append([]Option{WithMeterProvider(provider)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m, reader
}

// newThrottle returns a throttle of three requests a minute, one kept from the
// background, that the metrics observe and watch.
func newThrottle(t *testing.T, m *Metrics) *throttle.Throttle {
	t.Helper()
	th, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{{Name: "chat", Models: []string{"m*"}, PerModel: true,
			Limits: []throttle.Limit{throttle.Requests(3, time.Minute).Using(throttle.FixedWindow)}}},
		Lanes:   []lanes.Lane{{Name: "live", Share: 1, Wait: -1}, {Name: "background", Share: 0.67}},
		Logger:  slog.New(slog.DiscardHandler),
		Observe: m.Observe,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { th.Close() })
	if err := m.Watch(th); err != nil {
		t.Fatal(err)
	}
	return th
}

// collect returns all figures as text, "name{k=v,…} value", and a histogram as its count
// and sum.
func collect(t *testing.T, r *sdk.ManualReader) []string {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &data); err != nil {
		t.Fatal(err)
	}
	var lines []string
	add := func(m metricdata.Metrics, set attribute.Set, value any) {
		text := set.Encoded(attribute.DefaultEncoder())
		lines = append(lines, fmt.Sprintf("%s %s{%s} %v", m.Name, m.Unit, strings.ReplaceAll(text, "headgate.", ""), value))
	}
	for _, scope := range data.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					add(m, p.Attributes, p.Value)
				}
			case metricdata.Gauge[int64]:
				for _, p := range d.DataPoints {
					add(m, p.Attributes, p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range d.DataPoints {
					add(m, p.Attributes, p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					add(m, p.Attributes, fmt.Sprintf("%d calls %g", p.Count, p.Sum))
				}
			default:
				t.Errorf("%s is a %T", m.Name, d)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("no line %q in\n%s", line, strings.Join(got, "\n"))
		}
	}
}

func call(model string, account string) throttle.Call {
	return throttle.Call{Key: throttle.FingerprintOf(secret + account), Account: account, Model: model, Tenant: "tenant-7"}
}

// nextWindow sleeps until a minute begins.
func nextWindow() { time.Sleep(time.Minute - time.Duration(time.Now().UnixNano())%time.Minute) }

func TestMetricsShowDecisionsAndState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, reader := newMetrics(t)
		th := newThrottle(t, m)
		nextWindow()
		acquire := func(c throttle.Call) error {
			p, err := th.Acquire(t.Context(), c)
			p.Done()
			return err
		}
		background := call("m1", "acme")
		background.Lane = lanes.Background
		for i, c := range []throttle.Call{call("m1", "acme"), call("m1", "acme"), call("m2", "acme")} {
			if err := acquire(c); err != nil {
				t.Fatal(i, err)
			}
		}
		if err := acquire(background); !errors.Is(err, throttle.ErrBudget) {
			t.Fatalf("got %v, want a denial", err)
		}
		p, err := th.Acquire(t.Context(), call("m1", "acme"))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- acquire(call("m1", "acme")) }() // the fourth waits for the next window
		synctest.Wait()
		got := collect(t, reader)
		wantLines(t, got,
			`headgate.decisions {call}{budget=chat,lane=live,outcome=admitted} 4`,
			`headgate.decisions {call}{budget=chat,lane=background,outcome=denied,reason=budget} 1`,
			`headgate.wait.duration s{budget=chat,lane=live,outcome=admitted} 4 calls 0`,
			`headgate.limit.used {unit}{budget=chat,limit=requests per 1m0s,limit.scope=budget} 3`,
			`headgate.limit.amount {unit}{budget=chat,limit=requests per 1m0s,limit.scope=budget} 3`,
			`headgate.calls.waiting {call}{budget=chat,lane=live} 1`,
			`headgate.calls.waiting {call}{budget=chat,lane=background} 0`,
			`headgate.calls.leased {call}{budget=chat,lane=live} 0`,
			`headgate.pause.remaining s{budget=chat} 0`,
			`headgate.keys.refused {key}{} 0`,
			`headgate.store.outage 1{} 0`,
		)
		time.Sleep(time.Minute)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		p.Answered(throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey})
		p.Done()
		if err := th.Pause(t.Context(), call("m2", "acme"), throttle.ScopeModel, 30*time.Second); err != nil {
			t.Fatal(err)
		}
		got = collect(t, reader)
		wantLines(t, got,
			`headgate.decisions {call}{budget=chat,lane=live,outcome=admitted} 5`,
			`headgate.calls.waiting {call}{budget=chat,lane=live} 0`,
			`headgate.pause.remaining s{budget=chat} 30`,
			`headgate.keys.refused {key}{} 1`,
		)
		for _, line := range got {
			for _, word := range []string{"SECRET", "tenant-7", "acme", "m1", "m2", string(throttle.FingerprintOf(secret + "acme"))} {
				if strings.Contains(strings.ReplaceAll(line, "1m0s", ""), word) {
					t.Errorf("%s: contains %q", line, word)
				}
			}
		}
	})
}

// Models that no budget matches are their own budgets, and callers choose them.
func TestMetricsBoundBudgets(t *testing.T) {
	m, reader := newMetrics(t, WithMaxBudgets(3))
	th := newThrottle(t, m)
	for i := range 50 {
		p, err := th.Acquire(t.Context(), call(fmt.Sprintf("unknown-%d", i), ""))
		if err != nil {
			t.Fatal(err)
		}
		p.Done()
	}
	got := collect(t, reader)
	wantLines(t, got, `headgate.decisions {call}{budget=other,lane=live,outcome=admitted} 47`)
	named := slices.DeleteFunc(got, func(line string) bool { return !strings.HasPrefix(line, "headgate.decisions") })
	if len(named) != 4 {
		t.Errorf("%d sets of attributes, want 4:\n%s", len(named), strings.Join(named, "\n"))
	}
}

func TestMetricsTellDryRunsApart(t *testing.T) {
	m, reader := newMetrics(t)
	m.Observe(throttle.Event{Kind: throttle.EventDenied, Budget: "b", Lane: "l", DryRun: true, Err: &throttle.DeniedError{Reason: throttle.ErrStore}})
	m.Observe(throttle.Event{Kind: throttle.EventAdmitted, Budget: "b", Lane: "l", DryRun: true, Wait: time.Hour, Err: &throttle.DeniedError{Reason: throttle.ErrPaused}})
	m.Observe(throttle.Event{Kind: throttle.EventProbe, Budget: "b", Lane: "l", Wait: 1500 * time.Millisecond})
	got := collect(t, reader)
	wantLines(t, got,
		`headgate.decisions {call}{budget=b,dry_run=true,lane=l,outcome=denied,reason=store} 1`,
		`headgate.decisions {call}{budget=b,dry_run=true,lane=l,outcome=admitted,reason=paused} 1`,
		`headgate.wait.duration s{budget=b,lane=l,outcome=probe} 1 calls 1.5`,
	)
	if len(got) != 4 { // the last is the probe's decision
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestCloseEndsTheWatch(t *testing.T) {
	m, reader := newMetrics(t)
	th := newThrottle(t, m)
	if err := m.Watch(th); err == nil {
		t.Error("a second watch began")
	}
	wantLines(t, collect(t, reader), `headgate.store.outage 1{} 0`)
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := collect(t, reader); len(got) != 0 {
		t.Errorf("after Close there is\n%s", strings.Join(got, "\n"))
	}
	if err := m.Watch(th); err == nil {
		t.Error("a watch began after Close")
	}
}

// The fullest of several accounts counts, and factors and pauses by the highest.
func TestPictureOfSeveralAccounts(t *testing.T) {
	m, _ := newMetrics(t)
	p := picture{map[laneOf]int64{}, map[laneOf]int64{}, map[limitOf]use{}, map[string]time.Duration{}, map[factorOf]float64{}}
	for _, u := range []use{{5, 10}, {9, 100}, {6, 10}} {
		m.add(&p, &throttle.BudgetStatus{Budget: "b", GuessInput: float64(u.used), Paused: time.Duration(u.used), LeasedBy: map[string]int64{"live": 2},
			Limits: []throttle.LimitStatus{{Unit: throttle.UnitInFlight, Account: true, Used: u.used, Amount: u.amount}}})
	}
	if got := p.limits[limitOf{"b", "calls in flight", "account"}]; got != (use{6, 10}) {
		t.Errorf("use is %+v", got)
	}
	if p.factors[factorOf{"b", "input"}] != 9 || len(p.factors) != 1 || p.pauses["b"] != 9 || p.leased[laneOf{"b", "live"}] != 6 {
		t.Errorf("got %+v", p)
	}
}
