package throttle_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/probe"
	"github.com/headgate-go/headgate/throttle"
)

func TestAnOperatorsProbeIsOneOfTheWholeFleetAndTheIntervalCountsFromIt(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		fleet := processes(t, fl, 3, throttle.Config{Lanes: patient(), Budgets: budget(throttle.Requests(1_000_000, 24*time.Hour)), Probe: probe.Policy{Every: time.Hour}})
		for _, th := range fleet {
			awaits(t, th, nil)
		}
		answer(t, fleet[0], call(), refused)
		for _, th := range fleet {
			awaits(t, th, throttle.ErrKeyRefused)
		}
		for round := range 2 {
			if err := fleet[round].Probe(context.Background(), call()); err != nil {
				t.Fatal(err)
			}
			// Another process than the one that was told makes the probe.
			var probing throttle.Permit
			for deadline := time.Now().Add(10 * time.Second); !probing.Probe(); {
				p, err := tryNow(t, fleet[2], call())
				if err != nil && !errors.Is(err, throttle.ErrKeyRefused) || time.Now().After(deadline) {
					t.Fatalf("round %d: no probe: %v", round, err)
				}
				probing = p
			}
			for i, th := range fleet {
				for range 20 {
					if p, err := tryNow(t, th, call()); err == nil {
						t.Errorf("round %d: process %d sends another call, probe %v", round, i, p.Probe())
					}
				}
			}
			probing.Answered(refused)
			probing.Done()
			e := denied(t, fleet[2], context.Background(), call(), throttle.ErrKeyRefused)
			if e.RetryAfter < 50*time.Minute || e.RetryAfter > time.Hour {
				t.Errorf("round %d: the next probe is in %v, want an hour from this one", round, e.RetryAfter)
			}
		}
		everyKeyExpires(t, fl)
	})
}

func TestAnOperatorsProbeOpensARepairedKey(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{})
		answer(t, th, call(), refused)
		time.Sleep(time.Second)
		if err := th.Probe(context.Background(), call()); err != nil {
			t.Fatal(err)
		}
		s, err := th.Status(context.Background())
		if err != nil || len(s.Keys) != 1 || s.Keys[0].NextProbe != 0 {
			t.Errorf("%+v, %v: want a probe that is due", s.Keys, err)
		}
		answer(t, th, call(), throttle.Verdict{Class: throttle.OK})
		goes(t, th, context.Background(), call()).Done()
		goes(t, th, context.Background(), call()).Done()
	})
}

func TestAnOperatorsProbeIsSentAtOnceWhereThePolicySends(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := throttle.NewMemoryStore()
		var sent atomic.Int64
		var fleet []*throttle.Throttle
		for range 3 {
			fleet = append(fleet, newThrottle(t, throttle.Config{Store: store, Probe: probe.Policy{Send: func(context.Context, string) error {
				sent.Add(1)
				return errors.New("401")
			}}}))
		}
		for _, th := range fleet {
			goes(t, th, context.Background(), call()).Done()
		}
		answer(t, fleet[0], call(), refused)
		time.Sleep(2 * time.Minute)
		if err := fleet[1].Probe(context.Background(), call()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := sent.Load(); n != 1 {
			t.Fatalf("%d probes at the operator's word, want one", n)
		}
		time.Sleep(4*time.Minute + 59*time.Second)
		if n := sent.Load(); n != 1 {
			t.Errorf("%d probes within the interval after it", n)
		}
		time.Sleep(time.Minute)
		if n := sent.Load(); n != 2 {
			t.Errorf("%d probes after the interval, want the second", n)
		}
	})
}

// A dry run sends nothing that nobody called for, at an operator's word neither.
func TestAnOperatorsProbeInADryRunIsACallersCall(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var sent atomic.Int64
		th := newThrottle(t, throttle.Config{DryRun: true, Probe: probe.Policy{Send: func(context.Context, string) error {
			sent.Add(1)
			return nil
		}}})
		answer(t, th, call(), refused)
		time.Sleep(time.Minute)
		if err := th.Probe(context.Background(), call()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := sent.Load(); n != 0 {
			t.Errorf("%d probes were sent", n)
		}
		if p := goes(t, th, context.Background(), call()); !p.Probe() {
			t.Error("the next call isn't the probe")
		} else {
			p.Done()
		}
	})
}

func TestAnOperatorsProbeOfAnOpenKeyDoesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := processes(t, fl, 1, throttle.Config{Lanes: patient()})[0]
		for range 3 {
			if err := th.Probe(context.Background(), call()); err != nil {
				t.Fatal(err)
			}
			if p := goes(t, th, context.Background(), call()); p.Probe() {
				t.Error("a call of an open key is a probe")
			} else {
				p.Done()
			}
		}
	})
}

func TestAnOperatorsProbeWithoutAStoreIsAnError(t *testing.T) {
	server := redistest.Start(t)
	store, err := throttle.NewRedisStore(server.Client(t), throttle.RedisOptions{Timeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	th := newThrottle(t, throttle.Config{Store: store})
	answer(t, th, call(), refused)
	server.Stop(t)
	for range 2 { // the first finds the outage
		if err := th.Probe(context.Background(), call()); !errors.Is(err, throttle.ErrStore) {
			t.Errorf("%v, want ErrStore", err)
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := th.Probe(ended, call()); !errors.Is(err, context.Canceled) {
		t.Errorf("a probe whose context has ended: %v", err)
	}
}

func TestStatusNamesTheMembersOfTheFleet(t *testing.T) {
	fl := redisFleet(t)
	fleet := processes(t, fl, 3, throttle.Config{})
	s, err := fleet[0].Status(context.Background())
	if err != nil || s.Store != "redis" || len(s.Members) != 3 {
		t.Fatalf("%q with members %+v, %v", s.Store, s.Members, err)
	}
	self := 0
	for _, m := range s.Members {
		if m.Self {
			self++
		}
		if m.ID == "" || m.Seen < 0 || m.Seen > 15*time.Second {
			t.Errorf("member %+v", m)
		}
	}
	if self != 1 {
		t.Errorf("%d members are this process", self)
	}
	if s, err := newThrottle(t, throttle.Config{}).Status(context.Background()); err != nil || s.Store != "memory" || s.Members != nil || !s.Hears {
		t.Errorf("in memory: %+v, %v", s, err)
	}
}

// What a Status shows is what an operator's orders are given for.
func TestTheCallsOfAStatusLeadToItsBudgetsAndKeys(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Budgets: []throttle.Budget{
			{Name: "each", Models: []string{"a-*"}, PerModel: true}, {Name: "all", Models: []string{"b-*", "*"}},
		}})
		ctx := context.Background()
		for _, c := range []throttle.Call{{Key: "k", Model: "a-1"}, {Key: "k", Model: "a-2"}, {Key: "k", Account: "acme", Model: "b-1"}, {Key: "k2", Account: "acme", Model: "b-2"}} {
			answer(t, th, c, throttle.Verdict{Class: throttle.OK})
		}
		answer(t, th, throttle.Call{Key: "k2", Account: "acme", Model: "b-2"}, refused)
		s, err := th.Status(ctx)
		if err != nil || len(s.Budgets) != 3 || len(s.Keys) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		for i, b := range s.Budgets {
			if err := th.Pause(ctx, b.Call, throttle.ScopeModel, time.Duration(i+1)*time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		if err := th.Pause(ctx, s.Budgets[0].Call, throttle.ScopeKey, time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := th.Probe(ctx, s.Keys[0].Call); err != nil {
			t.Fatal(err)
		}
		if s, err = th.Status(ctx); err != nil || len(s.Budgets) != 3 || s.Keys[0].NextProbe != 0 {
			t.Fatalf("%+v, %v", s, err)
		}
		for i, b := range s.Budgets {
			for _, p := range b.Pauses {
				if p.Scope == throttle.ScopeModel && p.Left != time.Duration(i+1)*time.Minute || p.Scope == throttle.ScopeKey && p.Left != time.Hour {
					t.Errorf("budget %d: %+v", i, p)
				}
			}
			if want := 1 + onlyIf(b.Account == s.Budgets[0].Account); len(b.Pauses) != want {
				t.Errorf("budget %d of %s has pauses %+v, want %d", i, b.Account, b.Pauses, want)
			}
		}
	})
}

func onlyIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
