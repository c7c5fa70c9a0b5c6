package throttle

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

const permitBudget = 20

// permitThrottle has a budget of twenty calls, and a thousand tokens, a day.
func permitThrottle(t *testing.T) *Throttle {
	t.Helper()
	th, err := New(Config{
		Budgets: []Budget{{Models: []string{"m"}, Limits: []Limit{Requests(permitBudget, 24*time.Hour), Tokens(1000, 24*time.Hour)}}},
		Lanes:   []lanes.Lane{{Name: "live", Share: 1}},
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = th.Close() })
	return th
}

func mustAcquire(t *testing.T, th *Throttle, c Cost) Permit {
	t.Helper()
	p, err := th.Acquire(t.Context(), Call{Key: "k", Model: "m", Cost: c})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// wantRoom checks what is left of the budget, without drawing on it.
func wantRoom(t *testing.T, th *Throttle, requests, tokens int64) {
	t.Helper()
	fits := func(c Cost) bool {
		return th.Check(t.Context(), Call{Key: "k", Model: "m", Cost: c}) == nil
	}
	// Settlements ride with the next claim, which a mere check is not.
	if p, err := th.Acquire(t.Context(), Call{Key: "k", Model: "m"}); err == nil {
		p.Cancel()
		if p, err := th.Acquire(t.Context(), Call{Key: "k", Model: "m"}); err == nil {
			defer p.Cancel()
			requests--
		}
	}
	if requests > 0 && !fits(Cost{Requests: requests}) || fits(Cost{Requests: requests + 1}) {
		t.Errorf("there is not just room for %d requests", requests)
	}
	if requests > 0 && tokens > 0 && !fits(Cost{InputTokens: tokens}) || fits(Cost{InputTokens: tokens + 1}) {
		t.Errorf("there is not just room for %d tokens", tokens)
	}
}

func TestTheZeroPermitDoesNothing(t *testing.T) {
	var p Permit
	p.Answered(Verdict{Class: KeyRefused})
	p.Settle(Cost{InputTokens: 5})
	p.Done()
	p.Cancel()
	if p.Probe() {
		t.Error("it is a probe")
	}
}

func TestAPermitEndsOnceInTheFirstWayCalled(t *testing.T) {
	ends := map[string]func(Permit){
		"Done":   Permit.Done,
		"Cancel": Permit.Cancel,
		"Settle": func(p Permit) { p.Settle(Cost{InputTokens: 30, OutputTokens: -1}) },
	}
	rooms := map[string][2]int64{
		"Done": {permitBudget - 1, 900}, "Cancel": {permitBudget, 1000}, "Settle": {permitBudget - 1, 930},
	}
	for first, end := range ends {
		for second, again := range ends {
			t.Run(first+" then "+second, func(t *testing.T) {
				th := permitThrottle(t)
				p := mustAcquire(t, th, Cost{InputTokens: 60, OutputTokens: 40})
				wantRoom(t, th, permitBudget-1, 900)
				end(p)
				again(p)
				again(p)
				wantRoom(t, th, rooms[first][0], rooms[first][1])
			})
		}
	}
}

func TestSettlingAboveTheEstimateChargesTheRest(t *testing.T) {
	th := permitThrottle(t)
	mustAcquire(t, th, Cost{InputTokens: 100}).Settle(Cost{InputTokens: 100, OutputTokens: 500})
	wantRoom(t, th, permitBudget-1, 400)
	mustAcquire(t, th, Cost{InputTokens: 100}).Settle(Cost{InputTokens: 1 << 62})
	wantRoom(t, th, permitBudget-2, 0)
}

// recycled returns a permit that has ended, and one that uses its state again.
func recycled(t *testing.T, th *Throttle) (old, next Permit) {
	t.Helper()
	for range 1000 {
		old = mustAcquire(t, th, Cost{InputTokens: 100})
		old.Cancel()
		next = mustAcquire(t, th, Cost{InputTokens: 100})
		if next.s == old.s {
			return old, next
		}
		next.Cancel()
	}
	t.Fatal("no state was used again")
	return
}

func TestALateCallDoesNothingToSomebodyElsesPermit(t *testing.T) {
	late := map[string]func(Permit){
		"Done": Permit.Done, "Cancel": Permit.Cancel,
		"Settle":     func(p Permit) { p.Settle(Cost{}) },
		"key error":  func(p Permit) { p.Answered(Verdict{Class: KeyRefused, Scope: ScopeKey}) },
		"busy model": func(p Permit) { p.Answered(Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Minute}) },
	}
	for name, f := range late {
		t.Run(name, func(t *testing.T) {
			th := permitThrottle(t)
			old, next := recycled(t, th)
			wantRoom(t, th, permitBudget-1, 900)
			f(old)
			wantRoom(t, th, permitBudget-1, 900)
			// It can still be ended, once.
			next.Settle(Cost{InputTokens: 10})
			wantRoom(t, th, permitBudget-1, 990)
		})
	}
}

func TestOfManyWhoCancelAtOnceOneDoes(t *testing.T) {
	th := permitThrottle(t)
	for range 100 {
		p := mustAcquire(t, th, Cost{InputTokens: 100})
		mustAcquire(t, th, Cost{InputTokens: 100}).Cancel()
		var all sync.WaitGroup
		for range 8 {
			all.Go(p.Cancel)
		}
		all.Wait()
	}
	wantRoom(t, th, permitBudget, 1000)
}

// Whoever holds what, ends it how and how often: in the end just the calls that
// were sent are charged.
func TestManyGoroutinesChargeWhatTheySent(t *testing.T) {
	th := permitThrottle(t)
	var sent atomic.Int64
	var all sync.WaitGroup
	for seed := range uint64(8) {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, 0))
			var past []Permit
			for range 300 {
				p, err := th.Acquire(t.Context(), Call{Key: "k", Model: "m", Cost: Cost{InputTokens: 10}})
				if err != nil {
					continue
				}
				if len(past) > 0 {
					past[rnd.IntN(len(past))].Cancel()
				}
				if seed == 0 && sent.Load() < 5 {
					sent.Add(1)
					p.Settle(Cost{InputTokens: 7})
				} else {
					p.Cancel()
				}
				p.Done()
				past = append(past, p)
			}
		})
	}
	all.Wait()
	n := sent.Load()
	if n == 0 {
		t.Fatal("no call was sent")
	}
	wantRoom(t, th, permitBudget-n, 1000-7*n)
}
