package throttle

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/lanes"
)

// A countingStore counts the claims that reach a store, and can hold them up.
type countingStore struct {
	Store
	claims atomic.Int64
	looks  atomic.Int64
	before func() // called ahead of every claim, unless nil
}

func (s *countingStore) claim(ctx context.Context, c *claim) (answer, error) {
	s.claims.Add(1)
	if s.before != nil {
		s.before()
	}
	return s.Store.claim(ctx, c)
}

func (s *countingStore) look(ctx context.Context, claims []claim) ([]answer, error) {
	s.looks.Add(1)
	return s.Store.look(ctx, claims)
}

// A remoteStore is a memory store that is asked as a remote one is: from a
// goroutine of its own.
type remoteStore struct{ countingStore }

func (s *remoteStore) immediate() bool { return false }

func testThrottle(t testing.TB, c Config) *Throttle {
	t.Helper()
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	th, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = th.Close() })
	return th
}

func testBudget(limits ...Limit) []Budget {
	return []Budget{{Models: []string{"m"}, Limits: limits}}
}

var testCall = Call{Key: "k", Model: "m"}

func TestALoneCallIsOneRoundTripAndConcurrentOnesShareThem(t *testing.T) {
	inFlight := make(chan struct{}, 1)
	release := make(chan struct{})
	store := &remoteStore{countingStore{Store: NewMemoryStore()}}
	th := testThrottle(t, Config{Store: store, Budgets: testBudget(Requests(1000, time.Hour))})
	acquire := func() {
		p, err := th.Acquire(context.Background(), testCall)
		if err != nil {
			t.Error(err)
		}
		p.Done()
	}
	acquire()
	if n := store.claims.Load(); n != 1 {
		t.Fatalf("a lone call made %d claims", n)
	}
	store.before = func() {
		select {
		case inFlight <- struct{}{}: // only the first claim is held up
			<-release
		default:
		}
	}
	var wg sync.WaitGroup
	wg.Go(acquire)
	for len(inFlight) == 0 { // until the first claim is under way
		runtime.Gosched()
	}
	q, _ := th.queueFor(&testCall)
	for range 200 {
		wg.Go(acquire)
	}
	for waiting := 0; waiting < 201; { // until everybody is in the room
		q.mu.Lock()
		waiting = q.room.Len()
		q.mu.Unlock()
	}
	close(release)
	wg.Wait()
	if n := store.claims.Load(); n != 3 {
		t.Errorf("201 calls made %d claims after the first, want one for the first and one for all others", n-1)
	}
}

func TestACallsOwnCostTravelsWithItAndOrderIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &remoteStore{countingStore{Store: NewMemoryStore()}}
		hold := make(chan struct{})
		store.before = func() { <-hold }
		th := testThrottle(t, Config{Store: store, Budgets: testBudget(Tokens(100, time.Hour))})
		results := make([]error, 6)
		var wg sync.WaitGroup
		for i, cost := range []int64{50, 60, 30, 30, 20, 1} {
			c := testCall
			c.Cost.InputTokens = cost
			c.Lane = lanes.Lane{Name: "live"}
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				defer cancel()
				var p Permit
				p, results[i] = th.Acquire(ctx, c)
				p.Done()
			})
			synctest.Wait()
		}
		close(hold)
		wg.Wait()
		// 60 is refused and skipped: 50 + 30 go, 30 doesn't, 20 goes, 1 doesn't.
		for i, goes := range []bool{true, false, true, false, true, false} {
			if (results[i] == nil) != goes {
				t.Errorf("call %d: %v", i, results[i])
			}
		}
	})
}

func TestACancelledLeaderDoesNotFailTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &remoteStore{countingStore{Store: NewMemoryStore()}}
		hold := make(chan struct{})
		store.before = func() { <-hold }
		th := testThrottle(t, Config{Store: store, Budgets: testBudget(Requests(5, time.Hour))})
		ctx, cancel := context.WithCancel(context.Background())
		leader := make(chan error, 1)
		go func() {
			_, err := th.Acquire(ctx, testCall)
			leader <- err
		}()
		synctest.Wait()
		var went atomic.Int64
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if p, err := th.Acquire(context.Background(), testCall); err == nil {
					went.Add(1)
					p.Done()
				}
			})
		}
		synctest.Wait()
		cancel()
		if err := <-leader; err == nil {
			t.Error("the leader was admitted")
		}
		close(hold)
		wg.Wait()
		// The leader's unit was charged with its claim and given back.
		if went.Load() != 5 {
			t.Errorf("%d of the five others went", went.Load())
		}
	})
}

func TestTinyWaitsDoNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countingStore{Store: NewMemoryStore()}
		th := testThrottle(t, Config{
			Store: store, Budgets: testBudget(Tokens(90_000, time.Minute).Using(TokenBucket).WithBurst(100)),
		})
		start := time.Now()
		var wg sync.WaitGroup
		for range 500 {
			wg.Go(func() {
				c := testCall
				c.Cost.InputTokens = 1
				p, err := th.Acquire(context.Background(), c)
				if err != nil {
					t.Error(err)
				}
				p.Done()
			})
		}
		wg.Wait()
		// 100 at once, then 1500 a second: the last after 400/1500 s.
		if got := time.Since(start).Round(time.Millisecond); got != 267*time.Millisecond {
			t.Errorf("500 calls took %v, want 267ms", got)
		}
		if n := store.claims.Load(); n > 1000 {
			t.Errorf("%d claims for 500 calls", n)
		}
	})
}

func TestDenialsThatAreKnownHereMakeNoRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &countingStore{Store: NewMemoryStore()}
		th := testThrottle(t, Config{Store: store})
		deny := func(c Call, v Verdict) {
			p, err := th.Acquire(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			p.Answered(v)
			p.Done()
			before := store.claims.Load()
			for range 100 {
				if _, err := th.Acquire(context.Background(), c); err == nil {
					t.Fatalf("%v let a call through", v.Class)
				}
			}
			if n := store.claims.Load() - before; n != 0 {
				t.Errorf("100 denials for %v made %d claims", v.Class, n)
			}
		}
		deny(Call{Key: "a", Model: "m"}, Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Minute})
		deny(Call{Key: "b", Model: "m"}, Verdict{Class: Overloaded, Scope: ScopeKey, Wait: time.Minute})
		deny(Call{Key: "c", Model: "m"}, Verdict{Class: KeyRefused, Scope: ScopeKey})
		deny(Call{Key: "d", Model: "m"}, Verdict{Class: ModelDenied, Scope: ScopeModel})
	})
}

func TestAnAdmittedCallIsOneCommand(t *testing.T) {
	server := redistest.Start(t)
	th := testThrottle(t, Config{
		Store:   redisStoreOn(t, server),
		Budgets: testBudget(Requests(100, time.Minute), Tokens(1000, time.Minute)), Account: []Limit{Requests(1000, time.Hour)},
	})
	var commands []string
	for _, line := range server.Monitor(t, func() {
		p, err := th.Acquire(context.Background(), testCall)
		if err != nil {
			t.Error(err)
		}
		p.Done()
	}) {
		if !isLua(line) {
			commands = append(commands, line)
		}
	}
	if len(commands) != 1 {
		t.Errorf("one call made %d commands:\n%s", len(commands), fmt.Sprint(commands))
	}
}

// isLua reports whether a line of MONITOR is a command that a script made.
func isLua(line string) bool { return strings.Contains(line, " lua] ") }
