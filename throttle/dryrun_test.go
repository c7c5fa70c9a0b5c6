package throttle_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/probe"
	"github.com/headgate-go/headgate/throttle"
)

// A witness keeps the events of calls and the lines about dry runs.

// watch has a configuration's throttle report to the witness.

// last is the event of the last call.

// enforcing counts how many calls of a cost an enforcing process on the same

// store lets go.

func TestADryRunCountsWhatEnforcementWouldAndLetsEverythingGo(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		var w witness
		limits := budget(throttle.Requests(10, 24*time.Hour), throttle.Tokens(1000, 24*time.Hour))
		th := newThrottle(t, w.watch(throttle.Config{Store: fl.open(t), Lanes: patient(), Budgets: limits, DryRun: true}))
		uncounted := 0
		for i := range 25 {
			p, err := tryNow(t, th, tokens(100))
			if err != nil {
				t.Fatalf("call %d: %v", i, err)
			}
			if p.DryRun() {
				uncounted++
			}
			// What isn't counted is not settled, either.
			p.Settle(throttle.Cost{InputTokens: 50})
		}
		// After the settlement of ten calls only requests are short.
		if uncounted != 15 {
			t.Errorf("%d of 25 calls weren't counted, want 15", uncounted)
		}
		if b := statusOf(t, th); !b.DryRun || !maps.Equal(b.WouldDeny, map[string]int64{"budget": 15}) || len(b.WouldWait) != 0 {
			t.Errorf("status: %v, %v, %v", b.DryRun, b.WouldDeny, b.WouldWait)
		}
		if err := th.Check(context.Background(), call()); err != nil {
			t.Errorf("Check: %v, want nil as every call goes", err)
		}
		if e := w.last(t); e.Kind != throttle.EventDenied || !e.DryRun || !errors.Is(e.Err, throttle.ErrBudget) || e.Wait <= 0 {
			t.Errorf("event: %+v", e)
		}
		// A process that enforces finds exactly what enforcement would have used.
		other := newThrottle(t, throttle.Config{Store: fl.open(t), Lanes: patient(), Budgets: limits})
		if n := enforcing(t, other, call(), 5); n != 0 {
			t.Errorf("%d more requests fit, want 0", n)
		}
		poll(t, func() bool { // for the last settlements to be written
			s := statusOf(t, th)
			return len(s.Limits) == 2 && s.Limits[0].Used == 10 && s.Limits[1].Used == 500
		})
		everyKeyExpires(t, fl)
	})
}

// poll waits for something that needs a look at the store, of which a throttle

// takes one a second.

func TestADryRunHoldsNothingBackForAnyReason(t *testing.T) {
	busy := throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: 30 * time.Second}
	answered := func(v throttle.Verdict) func(*testing.T, *throttle.Throttle) {
		return func(t *testing.T, th *throttle.Throttle) {
			p := goes(t, th, context.Background(), call())
			p.Answered(v)
			p.Done()
		}
	}
	hold := func(t *testing.T, th *throttle.Throttle) { goes(t, th, context.Background(), call()) }
	for name, tt := range map[string]struct {
		budget  throttle.Budget
		wait    time.Duration
		before  func(*testing.T, *throttle.Throttle)
		tokens  int64
		reason  error
		waits   bool
		retryIn time.Duration
	}{
		"budget, at once": {budget: throttle.Budget{Limits: []throttle.Limit{throttle.Requests(1, time.Minute).Using(throttle.FixedWindow)}},
			before: hold, reason: throttle.ErrBudget, retryIn: time.Minute},
		"budget, too late": {budget: throttle.Budget{Limits: []throttle.Limit{throttle.Requests(1, time.Minute).Using(throttle.TokenBucket)}},
			wait: 59 * time.Second, before: hold, reason: throttle.ErrBudget, retryIn: time.Minute},
		"budget, in time": {budget: throttle.Budget{Limits: []throttle.Limit{throttle.Requests(1, time.Minute).Using(throttle.TokenBucket)}},
			wait: 61 * time.Second, before: hold, reason: throttle.ErrBudget, waits: true, retryIn: time.Minute},
		"in flight":           {budget: throttle.Budget{Limits: []throttle.Limit{throttle.InFlight(1)}}, before: hold, reason: throttle.ErrBudget},
		"in flight, in time":  {budget: throttle.Budget{Limits: []throttle.Limit{throttle.InFlight(1)}}, wait: time.Second, before: hold, reason: throttle.ErrBudget, waits: true},
		"until it is learned": {budget: throttle.Budget{Learn: true}, wait: time.Second, before: hold, reason: throttle.ErrBudget, waits: true},
		"too large":           {budget: throttle.Budget{Limits: []throttle.Limit{throttle.Tokens(10, time.Minute)}}, wait: time.Hour, tokens: 11, reason: throttle.ErrTooLarge},
		"paused":              {budget: throttle.Budget{}, before: answered(busy), reason: throttle.ErrPaused, retryIn: 30 * time.Second},
		"paused, in time":     {budget: throttle.Budget{}, wait: time.Minute, before: answered(busy), reason: throttle.ErrPaused, waits: true, retryIn: 30 * time.Second},
		"key": {budget: throttle.Budget{}, wait: time.Hour, before: answered(throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey}),
			reason: throttle.ErrKeyRefused, retryIn: 5 * time.Minute},
		"credit": {budget: throttle.Budget{}, wait: time.Hour, before: answered(throttle.Verdict{Class: throttle.CreditExhausted, Scope: throttle.ScopeKey}),
			reason: throttle.ErrCreditExhausted, retryIn: 5 * time.Minute},
		"model": {budget: throttle.Budget{}, wait: time.Hour, before: answered(throttle.Verdict{Class: throttle.ModelDenied, Scope: throttle.ScopeModel}),
			reason: throttle.ErrModelDenied, retryIn: 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				var w witness
				tt.budget.Models, tt.budget.DryRun = []string{model}, true
				th := newThrottle(t, w.watch(throttle.Config{
					Lanes: []lanes.Lane{{Name: "live", Share: 1, Wait: tt.wait}}, Budgets: []throttle.Budget{tt.budget},
				}))
				// A fixed window's beginning, and no less.
				time.Sleep(time.Until(time.Now().Truncate(time.Hour).Add(time.Hour)))
				if tt.before != nil {
					tt.before(t, th)
				}
				began := time.Now()
				for _, end := range []func(throttle.Permit){
					throttle.Permit.Cancel, throttle.Permit.Done, func(p throttle.Permit) { p.Settle(throttle.Cost{InputTokens: 1}) },
				} {
					p := goes(t, th, context.Background(), tokens(tt.tokens))
					if !p.DryRun() {
						t.Fatal("it is counted")
					}
					end(p)
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("three calls took %v", took)
				}
				want := throttle.EventDenied
				if tt.waits {
					want = throttle.EventAdmitted
				}
				if e := w.last(t); e.Kind != want || !e.DryRun || !errors.Is(e.Err, tt.reason) || e.Wait.Round(time.Second) != tt.retryIn {
					t.Errorf("event: %+v", e)
				}
				b := statusOf(t, th)
				counts, none := b.WouldDeny, b.WouldWait
				if tt.waits {
					counts, none = none, counts
				}
				word := map[error]string{
					throttle.ErrBudget: "budget", throttle.ErrPaused: "paused", throttle.ErrKeyRefused: "key_refused", throttle.ErrTooLarge: "too_large",
					throttle.ErrCreditExhausted: "credit_exhausted", throttle.ErrModelDenied: "model_denied",
				}[tt.reason]
				if !maps.Equal(counts, map[string]int64{word: 3}) || len(none) > 0 || b.Waiting != 0 {
					t.Errorf("status: would deny %v, would wait %v, %d wait", b.WouldDeny, b.WouldWait, b.Waiting)
				}
			})
		})
	}
}

// An unknown lane, an ended context and a closed throttle are no decision about

// a budget.

func TestWhatADryRunStillRefuses(t *testing.T) {
	th := newThrottle(t, throttle.Config{DryRun: true})
	c := call()
	c.Lane = lanes.Lane{Name: "nobody's"}
	if _, err := th.Acquire(context.Background(), c); !errors.Is(err, throttle.ErrInvalidCall) {
		t.Errorf("unknown lane: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := th.Acquire(ctx, call()); err != context.Canceled {
		t.Errorf("ended context: %v", err)
	}
	_ = th.Close()
	denied(t, th, context.Background(), call(), throttle.ErrClosed)
	deniedBy(t, throttle.Permit{}, th.Check(context.Background(), call()), throttle.ErrClosed)
}

// A dry run of one budget leaves the others alone, but what its answers say of

// the key holds for them.

func TestADryRunsAnswersSetPausesAndKeys(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		dry := throttle.Budget{Models: []string{model}, DryRun: true, Limits: []throttle.Limit{throttle.Requests(1, 24*time.Hour)}}
		cfg := throttle.Config{Lanes: patient(), Budgets: []throttle.Budget{dry, {Models: []string{"other"}}}}
		a, b := cfg, cfg
		a.Store, b.Store = fl.open(t), fl.open(t)
		first, second := newThrottle(t, a), newThrottle(t, b)
		other := throttle.Call{Key: key, Model: "other"}
		goes(t, first, context.Background(), call()).Done()
		goes(t, second, context.Background(), other).Done()

		p := goes(t, first, context.Background(), call())
		if !p.DryRun() {
			t.Fatal("the second call is counted")
		}
		p.Answered(throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey})
		p.Done()
		poll(t, func() bool {
			_, err := tryNow(t, second, other)
			return errors.Is(err, throttle.ErrKeyRefused)
		})
		if p := goes(t, second, context.Background(), call()); !p.DryRun() {
			t.Error("a call with a refused key is counted")
		}

		// Of an account whose key isn't refused: a pause of all its budgets.
		paused := throttle.Call{Key: "k", Account: "paused", Model: model}
		goes(t, first, context.Background(), paused).Done()
		p = goes(t, first, context.Background(), paused)
		p.Answered(throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeKey, Wait: time.Minute})
		p.Done()
		elsewhere := throttle.Call{Key: "k", Account: "paused", Model: "other"}
		if _, err := tryNow(t, second, elsewhere); !errors.Is(err, throttle.ErrPaused) {
			t.Errorf("elsewhere: %v, want the pause", err)
		}
		everyKeyExpires(t, fl)
	})
}

// While a key is refused every call goes, but one per interval is the probe, and

// nothing else is ever sent.

func TestADryRunProbesWithCallersCallsOnly(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		sent := 0
		th := newThrottle(t, throttle.Config{DryRun: true, Probe: probe.Policy{
			Every: time.Minute, Send: func(context.Context, string) error { sent++; return nil },
		}})
		refuse := throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey}
		p := goes(t, th, context.Background(), call())
		p.Answered(refuse)
		p.Done()
		probes := 0
		for range 30 { // for five minutes
			p := goes(t, th, context.Background(), call())
			if p.Probe() {
				probes++
				p.Answered(refuse)
			} else {
				p.Answered(throttle.Verdict{}) // says nothing of the key
			}
			p.Done()
			time.Sleep(10 * time.Second)
		}
		if probes != 4 || sent != 0 {
			t.Errorf("%d calls were probes, and %d requests were sent for one; want 4 and 0", probes, sent)
		}
		p = goes(t, th, context.Background(), call())
		if !p.Probe() || p.DryRun() {
			t.Fatal("five minutes later no probe is due")
		}
		p.Answered(throttle.Verdict{})
		p.Done()
		if p := goes(t, th, context.Background(), call()); p.Probe() || p.DryRun() {
			t.Error("the answered probe hasn't opened the key")
		}
	})
}

// The answer to a call that isn't counted is one of its key as it is now, in a

// process that hasn't heard of the key before, too.

func TestAnUncountedCallsAnswerIsOfItsKeysGeneration(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		cfg := throttle.Config{
			Lanes: patient(), DryRun: true, Probe: probe.Policy{Every: time.Millisecond},
			Budgets: budget(throttle.Requests(2, 24*time.Hour)),
		}
		a, b := cfg, cfg
		a.Store, b.Store = fl.open(t), fl.open(t)
		first, second := newThrottle(t, a), newThrottle(t, b)
		refuse := throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey}
		p := goes(t, first, context.Background(), call())
		p.Answered(refuse)
		p.Done()
		poll(t, func() bool { // a probe opens it again
			p := goes(t, first, context.Background(), call())
			defer p.Done()
			p.Answered(throttle.Verdict{})
			return p.Probe()
		})
		p = goes(t, second, context.Background(), call())
		if !p.DryRun() {
			t.Fatal("a third call is counted")
		}
		p.Answered(refuse)
		p.Done()
		if s, _ := second.Status(context.Background()); len(s.Keys) != 1 {
			t.Errorf("refused keys: %+v, want the one", s.Keys)
		}
	})
}

// What goes only because of a dry run leaves the way free that leads to the

// first learned limit.

// A call that waits and is too large for the budget of a dry run that begins

// goes, too.

func TestADryRunIsLoggedOncePerWindow(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var w witness
		th := newThrottle(t, w.watch(throttle.Config{
			Lanes: patient(), DryRun: true, Budgets: budget(throttle.Requests(1, 10*time.Minute).Using(throttle.FixedWindow)),
		}))
		time.Sleep(time.Until(time.Now().Truncate(time.Hour).Add(time.Hour)))
		for range 4 { // windows
			for range 100 {
				p, err := tryNow(t, th, call())
				if err != nil {
					t.Fatal(err)
				}
				p.Done()
			}
			time.Sleep(10 * time.Minute)
		}
		lines := w.lines()
		if len(lines) != 4 {
			t.Fatalf("%d lines, want one per window:\n%s", len(lines), strings.Join(lines, "\n"))
		}
		for _, want := range []string{"reason=budget", "since_last=98", `limit="1 requests per 10m0s"`, "lane=now", "budget=" + model} {
			if !strings.Contains(lines[1], want) {
				t.Errorf("the second line lacks %s: %s", want, lines[1])
			}
		}
		// What would only have waited is no denial.
		goes(t, th, context.Background(), call()).Done()
		goes(t, th, context.Background(), call()).Done()
		if n := len(w.lines()); n != 4 {
			t.Errorf("%d lines after a call that would have waited", n)
		}
		if b := statusOf(t, th); b.WouldDeny["budget"] != 4*99 || b.WouldWait["budget"] != 1 {
			t.Errorf("would deny %v, would wait %v", b.WouldDeny, b.WouldWait)
		}
	})
}

// Calls that wait when a dry run begins go at once.

// With leases a dry run counts no less and no more.

// A vendor who counts what enforcement would have kept from it doesn't change

// what enforcement would have used.

// An outage whose mode would deny every call denies none.
