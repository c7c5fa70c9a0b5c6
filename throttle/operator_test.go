package throttle_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

var bothScopes = []throttle.Scope{throttle.ScopeModel, throttle.ScopeKey}

// awaits makes calls until one has the result, nil or a reason, which must come
// soon.
func awaits(t *testing.T, th *throttle.Throttle, want error) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		p, err := tryNow(t, th, call())
		p.Cancel()
		if want == nil && err == nil || want != nil && errors.Is(err, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("a call: %v, want %v", err, want)
		}
	}
}

func TestAnOperatorsPauseAndResumeHoldForTheFleet(t *testing.T) {
	for _, scope := range bothScopes {
		t.Run(scope.String(), func(t *testing.T) {
			eachStore(t, func(t *testing.T, fl fleet) {
				c := throttle.Config{Lanes: patient(), Pause: noRamp, Budgets: budget(throttle.Requests(1_000_000, 24*time.Hour))}
				fleet := processes(t, fl, 3, c)
				for _, th := range fleet {
					awaits(t, th, nil)
				}
				const long = 48 * time.Hour // more than a vendor's may be
				if err := fleet[0].Pause(context.Background(), call(), scope, long); err != nil {
					t.Fatal(err)
				}
				if e := denied(t, fleet[0], background(context.Background()), call(), throttle.ErrPaused); e.RetryAfter < long-time.Hour {
					t.Errorf("come back in %v, want %v", e.RetryAfter, long)
				}
				awaits(t, fleet[1], throttle.ErrPaused)
				// A shorter one changes nothing, whoever says it.
				if err := fleet[1].Pause(context.Background(), call(), scope, time.Second); err != nil {
					t.Fatal(err)
				}
				awaits(t, fleet[2], throttle.ErrPaused)
				late := processes(t, fl, 1, c)[0]
				if e := denied(t, late, background(context.Background()), call(), throttle.ErrPaused); e.RetryAfter < long-time.Hour {
					t.Errorf("a new process is told to come back in %v, want %v", e.RetryAfter, long)
				}
				everyKeyExpires(t, fl)
				if err := fleet[2].Resume(context.Background(), call(), scope); err != nil {
					t.Fatal(err)
				}
				for _, th := range append(fleet, late) {
					awaits(t, th, nil)
				}
				everyKeyExpires(t, fl)
			})
		})
	}
}

func TestResumeWakesWaitingCallsOfEveryProcessByTheRamp(t *testing.T) {
	for _, scope := range bothScopes {
		inBubble(t, func(t *testing.T) {
			store := throttle.NewMemoryStore()
			fl := fleet{open: func(testing.TB) throttle.Store { return store }}
			fleet := processes(t, fl, 2, throttle.Config{
				Lanes: patient(), Pause: pause.Policy{Ramp: 10 * time.Second}, Budgets: budget(throttle.Requests(100, 10*time.Second).Using(throttle.TokenBucket)),
			})
			if err := fleet[0].Pause(context.Background(), call(), scope, 30*time.Minute); err != nil {
				t.Fatal(err)
			}
			went := newArrivals()
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					goes(t, fleet[i%2], context.Background(), call()).Done()
					went.note()
				})
			}
			time.Sleep(time.Minute)
			if n := len(went.all()); n > 0 {
				t.Fatalf("%d calls went in the pause", n)
			}
			resumed := time.Since(went.start)
			if err := fleet[1].Resume(context.Background(), call(), scope); err != nil {
				t.Fatal(err)
			}
			wg.Wait()
			// K = 100: the k-th call leaves 10*sqrt(2k/100) s after the end.
			if n := went.between(resumed, resumed+time.Millisecond); n != 1 {
				t.Errorf("scope %v: %d calls went at once, want one", scope, n)
			}
			if n := went.between(resumed, resumed+4500*time.Millisecond); n < 9 || n > 12 {
				t.Errorf("scope %v: %d calls went in 4.5 s, want 11 by the ramp", scope, n)
			}
			if n := went.between(resumed, resumed+6200*time.Millisecond); n != 20 {
				t.Errorf("scope %v: %d calls of 20 went in 6.2 s", scope, n)
			}
		})
	}
}

func TestResumeWhereNothingIsPausedDoesNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := processes(t, fl, 1, throttle.Config{Lanes: patient(), Budgets: budget(throttle.Requests(10, 24*time.Hour))})[0]
		for _, scope := range bothScopes {
			if err := th.Resume(context.Background(), call(), scope); err != nil {
				t.Error(err)
			}
		}
		for range 10 { // no ramp
			p, err := tryNow(t, th, call())
			if err != nil {
				t.Fatal(err)
			}
			p.Done()
		}
	})
}

func TestAnOperatorsMistakesAreErrors(t *testing.T) {
	th := newThrottle(t, throttle.Config{})
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	ctx := context.Background()
	for name, err := range map[string]error{
		"a pause of no length":       th.Pause(ctx, call(), throttle.ScopeModel, 0),
		"a negative pause":           th.Pause(ctx, call(), throttle.ScopeModel, -time.Second),
		"a pause of nothing":         th.Pause(ctx, call(), throttle.ScopeNone, time.Second),
		"a resumption of nothing":    th.Resume(ctx, call(), throttle.ScopeNone),
		"a resumption of who knows?": th.Resume(ctx, call(), throttle.Scope(9)),
	} {
		if !errors.Is(err, throttle.ErrInvalidCall) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := th.Pause(ended, call(), throttle.ScopeModel, time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("a pause whose context has ended: %v", err)
	}
	if err := th.Resume(ended, call(), throttle.ScopeModel); !errors.Is(err, context.Canceled) {
		t.Errorf("a resumption whose context has ended: %v", err)
	}
	goes(t, th, ctx, call()).Done()
}

func TestAnOperatorsPauseDuringAnOutageIsToldAfterIt(t *testing.T) {
	server := redistest.Start(t)
	open := func() throttle.Store {
		store, err := throttle.NewRedisStore(server.Client(t), throttle.RedisOptions{Timeout: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
	began, ended := make(chan struct{}, 10), make(chan struct{}, 10)
	c := throttle.Config{Store: open(), Lanes: patient(), Budgets: budget(throttle.Requests(1000, 24*time.Hour)), Observe: func(e throttle.Event) {
		switch e.Kind {
		case throttle.EventOutageStart:
			began <- struct{}{}
		case throttle.EventOutageEnd:
			ended <- struct{}{}
		}
	}}
	th := newThrottle(t, c)
	goes(t, th, context.Background(), call()).Done()
	server.Stop(t)
	if err := th.Pause(context.Background(), call(), throttle.ScopeModel, time.Hour); err == nil {
		t.Error("a pause that nobody else can know is no error")
	}
	<-began
	denied(t, th, background(context.Background()), call(), throttle.ErrPaused)
	if err := th.Resume(context.Background(), call(), throttle.ScopeModel); !errors.Is(err, throttle.ErrStore) {
		t.Errorf("a resumption that nobody else can know: %v", err)
	}
	denied(t, th, background(context.Background()), call(), throttle.ErrPaused)
	server.Restart(t)
	<-ended
	c.Store, c.Observe = open(), nil
	awaits(t, newThrottle(t, c), throttle.ErrPaused)
}
