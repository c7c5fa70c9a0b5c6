package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/headgate-go/headgate/throttle"
	"github.com/redis/go-redis/v9"
)

func TestADryRunKeepsNoPlaceAtAGate(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			DryRun: true, Lanes: patient(), Budgets: []throttle.Budget{{Models: []string{model}, Learn: true}},
			Account: []throttle.Limit{throttle.Requests(1, time.Hour)},
		})
		goes(t, th, context.Background(), call()).Cancel()
		goes(t, th, context.Background(), call()).Done() // and now two may be in flight
		for range 3 {
			if _, err := tryNow(t, th, call()); err != nil { // never ended
				t.Fatal(err)
			}
		}
		if b := statusOf(t, th); b.WouldDeny["budget"] != 3 {
			t.Fatalf("would deny %v", b.WouldDeny)
		}
		time.Sleep(2 * time.Hour)
		if p := goes(t, th, context.Background(), call()); p.DryRun() {
			t.Error("there is room, and the way isn't free")
		}
	})
}

func TestADryRunThatBeginsLetsThoseGoWhoAreTooLargeForIt(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		limit := throttle.Tokens(60, time.Hour).Using(throttle.TokenBucket)
		th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: budget(limit)})
		goes(t, th, context.Background(), tokens(60)).Done()
		permits := make(chan throttle.Permit, 1)
		go func() {
			p, err := th.Acquire(context.Background(), tokens(20))
			if err != nil {
				t.Error(err)
			}
			permits <- p
		}()
		time.Sleep(time.Second)
		dry := budget(throttle.Tokens(10, time.Hour))
		dry[0].DryRun = true
		if err := th.SetBudgets(dry); err != nil {
			t.Fatal(err)
		}
		if p := <-permits; !p.DryRun() {
			t.Error("it is counted")
		}
		if b := statusOf(t, th); b.WouldDeny["too_large"] != 1 {
			t.Errorf("would deny %v", b.WouldDeny)
		}
	})
}

func TestTheEndOfADryRunKeepsWhatIsUsed(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		dry := budget(throttle.Requests(3, 24*time.Hour))
		dry[0].DryRun = true
		th := newThrottle(t, throttle.Config{Store: fl.open(t), Lanes: patient(), Budgets: dry})
		for range 2 {
			goes(t, th, context.Background(), call()).Done()
		}
		real := budget(throttle.Requests(3, 24*time.Hour))
		if err := th.SetBudgets(real); err != nil {
			t.Fatal(err)
		}
		if n := enforcing(t, th, call(), 5); n != 1 {
			t.Errorf("%d calls went after the dry run, want the third", n)
		}
		if b := statusOf(t, th); b.DryRun || b.WouldDeny != nil {
			t.Errorf("status: %+v", b)
		}
		if err := th.SetBudgets(dry); err != nil {
			t.Fatal(err)
		}
		if p := goes(t, th, context.Background(), call()); !p.DryRun() {
			t.Error("a fourth call is counted")
		}
	})
}

func TestADryRunThatBeginsLetsThoseGoWhoWait(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		limit := throttle.Requests(6, time.Hour).Using(throttle.TokenBucket).WithBurst(1)
		th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: budget(limit)})
		goes(t, th, context.Background(), call()).Done()
		permits := make(chan throttle.Permit, 3)
		for range 3 {
			go func() {
				p, err := th.Acquire(context.Background(), call())
				if err != nil {
					t.Error(err)
				}
				permits <- p
			}()
		}
		time.Sleep(time.Second)
		dry := budget(limit)
		dry[0].DryRun = true
		began := time.Now()
		if err := th.SetBudgets(dry); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if p := <-permits; !p.DryRun() {
				t.Error("a call that waited is counted")
			}
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("they went after %v", took)
		}
		if b := statusOf(t, th); b.Waiting != 0 || b.WouldWait["budget"] != 3 {
			t.Errorf("status: %d wait, would wait %v", b.Waiting, b.WouldWait)
		}
	})
}

func TestADryRunWithLeasesCountsWhatEnforcementWould(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		limits := budget(throttle.Requests(100, 24*time.Hour))
		cfg := throttle.Config{Lanes: patient(), Budgets: limits, DryRun: true, Store: fl.open(t)}
		cfg.Lease.Chunk = 10
		th := newThrottle(t, cfg)
		counted := 0
		for range 150 {
			p := goes(t, th, context.Background(), call())
			if !p.DryRun() {
				counted++
			}
			p.Done()
		}
		if counted != 100 {
			t.Errorf("%d calls of 150 were counted, want 100", counted)
		}
	})
}

func TestADryRunBelievesItsOwnCount(t *testing.T) {
	for _, dry := range []bool{false, true} {
		t.Run(fmt.Sprint(dry), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				th := newThrottle(t, throttle.Config{Lanes: patient(), DryRun: dry, Budgets: budget(throttle.Requests(10, 24*time.Hour))})
				p := goes(t, th, context.Background(), call())
				p.Reported(throttle.Report{Unit: throttle.UnitRequests, Per: 24 * time.Hour, Limit: 10, Remaining: 2})
				p.Done()
				time.Sleep(time.Second)
				want := int64(8)
				if dry {
					want = 1
				}
				if used := statusOf(t, th).Limits[0].Used; used != want {
					t.Errorf("%d requests are used, want %d", used, want)
				}
			})
		})
	}
}

func TestADryRunGoesOnWithoutItsStore(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	store, err := throttle.NewRedisStore(client, throttle.RedisOptions{StartWithout: true, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	var w witness
	b := budget(throttle.Requests(1, 24*time.Hour))
	b[0].DryRun, b[0].Outage = true, throttle.OutageClosed
	th := newThrottle(t, w.watch(throttle.Config{Store: store, Lanes: patient(), Budgets: b}))
	for range 3 {
		if p := goes(t, th, context.Background(), call()); !p.DryRun() {
			t.Error("a call is counted where enforcement would have denied it")
		}
	}
	if e := w.last(t); e.Kind != throttle.EventDenied || !errors.Is(e.Err, throttle.ErrStore) {
		t.Errorf("event: %+v", e)
	}
	if b := statusOf(t, th); b.WouldDeny["store"] != 3 {
		t.Errorf("would deny %v", b.WouldDeny)
	}
}
