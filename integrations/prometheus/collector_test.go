package headgateprom_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/headgate-go/headgate/integrations/prometheus"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

func Example() {
	metrics := headgateprom.New()
	th, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{{Models: []string{"gpt-4o"}, Limits: []throttle.Limit{throttle.Requests(500, time.Minute)}}},
		Observe: metrics.Observe,
	})
	if err != nil {
		panic(err)
	}
	defer th.Close()
	metrics.Follow(th)
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	http.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
}

func followed(t *testing.T, change func(*throttle.Config)) (*headgateprom.Collector, *throttle.Throttle) {
	t.Helper()
	c := headgateprom.New()
	config := throttle.Config{
		Budgets: []throttle.Budget{{Models: []string{"m"}, Limits: []throttle.Limit{throttle.Requests(3, 24*time.Hour)}}},
		Lanes:   []lanes.Lane{{Name: "live", Share: 1}, {Name: "low", Share: 0.5}},
		Logger:  slog.New(slog.DiscardHandler), Observe: c.Observe,
	}
	if change != nil {
		change(&config)
	}
	th, err := throttle.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = th.Close() })
	c.Follow(th)
	return c, th
}

const secret = "sk-very-secret"

func call() throttle.Call {
	return throttle.Call{Key: throttle.FingerprintOf(secret), Model: "m", Tenant: "customer-1"}
}

func goes(t *testing.T, th *throttle.Throttle) throttle.Permit {
	t.Helper()
	p, err := th.Acquire(context.Background(), call())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWhatIsCollected(t *testing.T) {
	c, th := followed(t, nil)
	for range 3 {
		goes(t, th).Done()
	}
	if _, err := th.Acquire(context.Background(), call()); err == nil {
		t.Fatal("a fourth call goes")
	}
	want := `
# HELP headgate_decisions_total Calls by what was decided: admitted, probe, or why they were denied.
# TYPE headgate_decisions_total counter
headgate_decisions_total{budget="m",dry_run="false",lane="live",outcome="admitted"} 3
headgate_decisions_total{budget="m",dry_run="false",lane="live",outcome="budget"} 1
# HELP headgate_lane_room Units of a limit that a lane may still draw.
# TYPE headgate_lane_room gauge
headgate_lane_room{budget="m",lane="live",limit="3 requests per 24h0m0s"} 0
headgate_lane_room{budget="m",lane="low",limit="3 requests per 24h0m0s"} 0
# HELP headgate_limit_amount Units that a limit has.
# TYPE headgate_limit_amount gauge
headgate_limit_amount{budget="m",limit="3 requests per 24h0m0s"} 3
# HELP headgate_limit_used Units of a limit in use by the whole fleet.
# TYPE headgate_limit_used gauge
headgate_limit_used{budget="m",limit="3 requests per 24h0m0s"} 3
# HELP headgate_processes Processes that share the store.
# TYPE headgate_processes gauge
headgate_processes 1
# HELP headgate_store_up Whether the store is in reach: 1 or 0.
# TYPE headgate_store_up gauge
headgate_store_up 1
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "headgate_decisions_total", "headgate_lane_room",
		"headgate_limit_amount", "headgate_limit_used", "headgate_processes", "headgate_store_up"); err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(c, "headgate_wait_seconds"); n != 1 {
		t.Errorf("%d histograms of waits", n)
	}
	problems, err := testutil.CollectAndLint(c)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestPausesAndRefusedKeysAreCollected(t *testing.T) {
	c, th := followed(t, nil)
	p := goes(t, th)
	p.Answered(throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: 20 * time.Second})
	p.Answered(throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey})
	p.Done()
	for _, want := range []string{"headgate_pause_seconds", "headgate_refused_keys", "headgate_changes_total"} {
		if n := testutil.CollectAndCount(c, want); n == 0 {
			t.Errorf("%s isn't collected", want)
		}
	}
	want := `
# HELP headgate_refused_keys Keys that the vendor refuses, by class.
# TYPE headgate_refused_keys gauge
headgate_refused_keys{class="key_refused"} 1
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "headgate_refused_keys"); err != nil {
		t.Error(err)
	}
}

// Nothing that callers or vendors choose freely becomes a label, and no
// credential.
func TestLabelsAreBounded(t *testing.T) {
	c, th := followed(t, func(config *throttle.Config) {
		config.Budgets = nil
		for i := range 300 {
			config.Budgets = append(config.Budgets, throttle.Budget{
				Models: []string{fmt.Sprintf("m%d", i)}, Limits: []throttle.Limit{throttle.Requests(10, time.Hour)},
			})
		}
	})
	for i := range 300 {
		k := call()
		k.Model, k.Account = fmt.Sprintf("m%d", i), fmt.Sprintf("account-%d", i)
		p, err := th.Acquire(context.Background(), k)
		if err != nil {
			t.Fatal(err)
		}
		p.Done()
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		budgets := map[string]bool{}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == "budget" {
					budgets[l.GetValue()] = true
				}
				for _, forbidden := range []string{secret, string(throttle.FingerprintOf(secret)), "account-", "customer-1"} {
					if strings.Contains(l.GetValue(), forbidden) {
						t.Errorf("%s has the label %s=%q", f.GetName(), l.GetName(), l.GetValue())
					}
				}
			}
		}
		if len(budgets) > 201 {
			t.Errorf("%s has %d budgets", f.GetName(), len(budgets))
		}
		if len(budgets) > 1 && !budgets["other"] {
			t.Errorf("%s: nothing is under other", f.GetName())
		}
	}
}

func TestACollectorThatFollowsNothingCollectsItsCountsAlone(t *testing.T) {
	c := headgateprom.New()
	c.Observe(throttle.Event{Kind: throttle.EventOutageStart})
	if n := testutil.CollectAndCount(c); n != 1 {
		t.Errorf("%d metrics, want one", n)
	}
}

func BenchmarkObserve(b *testing.B) {
	c := headgateprom.New()
	e := throttle.Event{Kind: throttle.EventAdmitted, Budget: "m", Lane: "live", Wait: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		c.Observe(e)
	}
}
