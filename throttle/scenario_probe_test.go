package throttle_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/probe"
	"github.com/headgate-go/headgate/throttle"
)

// Refused keys: who may probe, when, and what the answer does.

var refused = throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey, Detail: "invalid_api_key"}

// answer sends one call and gives it a verdict.
func answer(t testing.TB, th *throttle.Throttle, c throttle.Call, v throttle.Verdict) {
	t.Helper()
	p := goes(t, th, context.Background(), c)
	p.Answered(v)
	p.Done()
}

func TestARefusedKeyIsDeniedToEverybodyAtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		told := make(chan struct{}, 10)
		cfg := throttle.Config{Observe: func(e throttle.Event) {
			if e.Kind == throttle.EventKeyRefused {
				told <- struct{}{}
			}
		}}
		a, b := cfg, cfg
		a.Store, b.Store = fl.open(t), fl.open(t)
		first, second := newThrottle(t, a), newThrottle(t, b)
		goes(t, second, context.Background(), call()).Done()
		answer(t, first, call(), refused)
		<-told
		<-told
		for i, th := range []*throttle.Throttle{first, second} {
			e := denied(t, th, context.Background(), call(), throttle.ErrKeyRefused)
			if e.RetryAfter > 5*time.Minute || e.RetryAfter < 4*time.Minute || e.Verdict.Class != throttle.KeyRefused {
				t.Errorf("process %d: %+v", i, e)
			}
		}
		other := call()
		other.Model = "another"
		denied(t, second, context.Background(), other, throttle.ErrKeyRefused)
		// A process that starts now finds out with its first call.
		a.Store = fl.open(t)
		denied(t, newThrottle(t, a), context.Background(), call(), throttle.ErrKeyRefused)
		goes(t, second, context.Background(), throttle.Call{Key: "another", Model: model}).Done()
		everyKeyExpires(t, fl)
	})
}

func TestExhaustedCreditHasItsOwnReasonAndADeniedModelStandsAlone(t *testing.T) { // B71, B74
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{Store: fl.open(t), Budgets: []throttle.Budget{{
			Models: []string{"*"}, Limits: []throttle.Limit{throttle.Requests(100, time.Hour)},
		}}})
		a, b := throttle.Call{Key: "k1", Model: "model-a"}, throttle.Call{Key: "k1", Model: "model-b"}
		answer(t, th, b, throttle.Verdict{Class: throttle.ModelDenied, Scope: throttle.ScopeModel})
		e := denied(t, th, context.Background(), b, throttle.ErrModelDenied)
		if e.RetryAfter > 5*time.Minute || e.RetryAfter < 4*time.Minute {
			t.Errorf("come back in %v", e.RetryAfter)
		}
		goes(t, th, context.Background(), a).Done()
		goes(t, th, background(context.Background()), a).Done()

		answer(t, th, throttle.Call{Key: "k2", Model: model}, throttle.Verdict{Class: throttle.CreditExhausted, Scope: throttle.ScopeKey})
		denied(t, th, context.Background(), throttle.Call{Key: "k2", Model: model}, throttle.ErrCreditExhausted)

		// A second process reads the same from the store.
		th = newThrottle(t, throttle.Config{Store: fl.open(t), Budgets: []throttle.Budget{{Models: []string{"*"}}}})
		denied(t, th, context.Background(), b, throttle.ErrModelDenied)
		goes(t, th, context.Background(), a).Done()
		denied(t, th, context.Background(), throttle.Call{Key: "k2", Model: model}, throttle.ErrCreditExhausted)
		everyKeyExpires(t, fl)
	})
}

func TestARevokedKeyGetsOneProbePerIntervalFromTheWholeFleet(t *testing.T) { // B75, B84
	inBubble(t, func(t *testing.T) {
		store := throttle.NewMemoryStore()
		seen := newArrivals()
		var repaired atomic.Bool
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 5 {
			th := newThrottle(t, throttle.Config{Store: store})
			for range 20 {
				wg.Go(func() {
					for ctx.Err() == nil {
						p, err := th.Acquire(ctx, call())
						if err != nil {
							time.Sleep(time.Second)
							continue
						}
						seen.note()
						time.Sleep(100 * time.Millisecond) // on the way
						if repaired.Load() {
							p.Answered(throttle.Verdict{Class: throttle.OK})
						} else {
							p.Answered(refused)
						}
						p.Done()
						time.Sleep(time.Second)
					}
				})
			}
		}
		time.Sleep(26 * time.Minute)
		synctest.Wait()
		if n := seen.between(0, time.Second); n != 100 {
			t.Errorf("%d calls before the first answer, want those in flight, 100", n)
		}
		for i := range 5 {
			from := time.Duration(i)*5*time.Minute + time.Second
			if n := seen.between(from, from+5*time.Minute); n != 1 {
				t.Errorf("%d arrivals in interval %d, want one probe", n, i)
			}
		}
		repaired.Store(true)
		before := len(seen.all())
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if n := len(seen.all()) - before; n < 100 {
			t.Errorf("%d calls within an interval of the repair", n)
		}
		cancel()
		wg.Wait()
	})
}

func TestEveryOutcomeOfAProbeLeadsToANextOneOrAnOpenKey(t *testing.T) { // B80, B81
	for _, tt := range []struct {
		name  string
		end   func(p throttle.Permit)
		opens bool
	}{
		{"ok", func(p throttle.Permit) { p.Answered(throttle.Verdict{Class: throttle.OK}); p.Done() }, true},
		{"busy", func(p throttle.Permit) { p.Answered(throttle.Verdict{Class: throttle.Busy}); p.Done() }, true},
		{"bad request", func(p throttle.Permit) { p.Answered(throttle.Verdict{Class: throttle.BadRequest}); p.Done() }, true},
		{"model denied", func(p throttle.Permit) { p.Answered(throttle.Verdict{Class: throttle.ModelDenied}); p.Done() }, true},
		{"refused", func(p throttle.Permit) { p.Answered(refused); p.Done() }, false},
		{"credit", func(p throttle.Permit) { p.Answered(throttle.Verdict{Class: throttle.CreditExhausted}); p.Done() }, false},
		{"server error", func(p throttle.Permit) { p.Answered(throttle.Verdict{Class: throttle.ServerError}); p.Done() }, false},
		{"overloaded", func(p throttle.Permit) { p.Answered(throttle.Verdict{Class: throttle.Overloaded}); p.Done() }, false},
		{"no answer", throttle.Permit.Done, false},
		{"never sent", throttle.Permit.Cancel, false},
		{"hangs for ever", func(throttle.Permit) {}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				th := newThrottle(t, throttle.Config{})
				answer(t, th, call(), refused)
				wait, reason := 5*time.Minute, throttle.ErrKeyRefused
				for range 3 {
					time.Sleep(wait)
					wait = 5*time.Minute - time.Second
					p := goes(t, th, context.Background(), call())
					if !p.Probe() {
						t.Fatal("the call isn't the probe")
					}
					denied(t, th, context.Background(), call(), reason)
					time.Sleep(time.Second)
					tt.end(p)
					if tt.opens {
						other := call()
						other.Model = "another"
						if p := goes(t, th, context.Background(), other); p.Probe() {
							t.Error("the key is still being probed")
						}
						return
					}
					if tt.name == "credit" {
						reason = throttle.ErrCreditExhausted
					}
					if e := denied(t, th, context.Background(), call(), reason); e.RetryAfter != 5*time.Minute-time.Second {
						t.Fatalf("the next probe in %v, want five minutes from the beginning of the last", e.RetryAfter)
					}
				}
			})
		})
	}
}

func TestAnAnswerOfAnOlderGenerationNeitherOpensNorRefuses(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{})
		slow := goes(t, th, context.Background(), call())
		answer(t, th, call(), refused)
		time.Sleep(5 * time.Minute)
		answer(t, th, call(), throttle.Verdict{Class: throttle.OK}) // the probe
		slow.Answered(refused)
		slow.Done()
		goes(t, th, context.Background(), call()).Done()

		slow = goes(t, th, context.Background(), call())
		answer(t, th, call(), refused)
		slow.Answered(throttle.Verdict{Class: throttle.OK})
		slow.Done()
		denied(t, th, context.Background(), call(), throttle.ErrKeyRefused)
	})
}

func TestALongerWaitOfTheVendorMovesTheNextProbeWithinThePausesBound(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Probe: probe.Policy{Every: time.Minute}})
		v := refused
		v.Wait = time.Hour
		answer(t, th, call(), v)
		if e := denied(t, th, context.Background(), call(), throttle.ErrKeyRefused); e.RetryAfter != 5*time.Minute {
			t.Errorf("the next probe in %v, want pause.Policy.Max", e.RetryAfter)
		}
	})
}

func TestWaitingCallsOfARefusedKeyAreTurnedAway(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Lanes: patient(), Budgets: budget(throttle.Requests(1, time.Minute).Using(throttle.TokenBucket)),
		})
		p := goes(t, th, context.Background(), call())
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { denied(t, th, context.Background(), call(), throttle.ErrKeyRefused) })
		}
		synctest.Wait()
		start := time.Now()
		p.Answered(refused)
		p.Done()
		wg.Wait()
		if got := time.Since(start); got != 0 {
			t.Errorf("they were turned away after %v", got)
		}
	})
}

func TestAProbePassesAnEmptyBudgetButNoPause(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Budgets: budget(throttle.Requests(2, 24*time.Hour))})
		slow := goes(t, th, context.Background(), call())
		answer(t, th, call(), refused)
		time.Sleep(4*time.Minute + 50*time.Second)
		slow.Answered(throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: 30 * time.Second})
		slow.Done()
		time.Sleep(10 * time.Second)
		if _, err := th.Acquire(background(context.Background()), call()); err == nil {
			t.Fatal("a probe went during a pause")
		}
		time.Sleep(20 * time.Second)
		p := goes(t, th, context.Background(), call())
		if !p.Probe() {
			t.Error("the call isn't the probe")
		}
		p.Done()
	})
}

func TestAnOwnProbeIsSentInsteadOfACallers(t *testing.T) {
	for _, through := range []bool{true, false} {
		inBubble(t, func(t *testing.T) {
			store := throttle.NewMemoryStore()
			var sent, repaired atomic.Int64
			var fleet []*throttle.Throttle
			for i := range 3 {
				cfg := throttle.Config{Store: store}
				cfg.Probe.Send = func(ctx context.Context, k string) error {
					sent.Add(1)
					if throttle.Fingerprint(k) != key {
						t.Errorf("the key is %q", k)
					}
					if !through {
						if repaired.Load() == 0 {
							return errors.New("401")
						}
						return nil
					}
					p, err := fleet[i].Acquire(ctx, call())
					if err != nil {
						return err
					}
					defer p.Done()
					if !p.Probe() {
						t.Error("the first request of the context isn't the probe")
					}
					if _, err := fleet[i].Acquire(ctx, call()); !errors.Is(err, throttle.ErrKeyRefused) {
						t.Errorf("the second request of the context: %v", err)
					}
					if repaired.Load() == 0 {
						p.Answered(refused)
					} else {
						p.Answered(throttle.Verdict{Class: throttle.OK})
					}
					return nil
				}
				fleet = append(fleet, newThrottle(t, cfg))
				goes(t, fleet[i], context.Background(), call()).Done()
			}
			answer(t, fleet[0], call(), refused)
			time.Sleep(16 * time.Minute)
			synctest.Wait()
			if n := sent.Load(); n != 3 {
				t.Errorf("through the throttle %v: %d probes in 16 minutes, want 3", through, n)
			}
			denied(t, fleet[1], context.Background(), call(), throttle.ErrKeyRefused)
			repaired.Store(1)
			time.Sleep(6 * time.Minute)
			synctest.Wait()
			for _, th := range fleet {
				goes(t, th, context.Background(), call()).Done()
			}
		})
	}
}

func TestARevokedKeyOnRedisGetsOneProbePerInterval(t *testing.T) { // B75, B84
	const every = 300 * time.Millisecond
	fl := redisFleet(t)
	seen := newArrivals()
	ctx, cancel := context.WithTimeout(context.Background(), 5*every)
	defer cancel()
	var wg sync.WaitGroup
	for range 4 {
		th := newThrottle(t, throttle.Config{Store: fl.open(t), Probe: probe.Policy{Every: every}})
		for range 5 {
			wg.Go(func() {
				for ctx.Err() == nil {
					p, err := th.Acquire(ctx, call())
					if err == nil {
						if p.Probe() {
							seen.note()
						}
						p.Answered(refused)
						p.Done()
						continue
					}
					var e *throttle.DeniedError
					if errors.As(err, &e) {
						again := time.NewTimer(e.RetryAfter)
						select {
						case <-again.C:
						case <-ctx.Done():
						}
					}
				}
			})
		}
	}
	wg.Wait()
	probes := seen.all()
	if len(probes) < 3 {
		t.Errorf("%d probes in five intervals", len(probes))
	}
	for i := 1; i < len(probes); i++ {
		// The instants are seen here and decided there.
		if gap := probes[i] - probes[i-1]; gap < every-50*time.Millisecond {
			t.Errorf("probes at %v: two within %v", probes, gap)
		}
	}
	everyKeyExpires(t, fl)
}
