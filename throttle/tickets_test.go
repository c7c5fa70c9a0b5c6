package throttle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

// A waitingFleet is processes that share a memory store in a bubble, and the
// order in which their calls go.
type waitingFleet struct {
	memory    *MemoryStore
	stores    []*fatedStore
	processes []*Throttle
	start     time.Time

	mu   sync.Mutex
	went []string
	at   map[string]time.Duration
}

// A fatedStore is a process's way to the store: it may be slow, and break.
type fatedStore struct {
	remoteStore
	mu    sync.Mutex
	dead  bool
	delay time.Duration

	answer chan struct{} // answers are held back until it is closed, unless nil
}

func (s *fatedStore) claim(ctx context.Context, c *claim) (answer, error) {
	s.mu.Lock()
	dead, delay := s.dead, s.delay
	s.mu.Unlock()
	time.Sleep(delay)
	if dead {
		return answer{}, errFlaky
	}
	ans, err := s.remoteStore.claim(ctx, c)
	if s.answer != nil {
		<-s.answer
	}
	return ans, err
}

func (s *fatedStore) set(dead bool, delay time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead, s.delay = dead, delay
}

// high and low wait for as long as the context allows.
var (
	high       = lanes.Lane{Name: "high", Share: 1, Wait: -1}
	low        = lanes.Lane{Name: "low", Share: 1, Wait: -1}
	atOnce     = lanes.Lane{Name: "at once", Share: 1}
	fleetLanes = []lanes.Lane{high, low, atOnce}
)

func newWaitingFleet(t *testing.T, processes int, c Config) *waitingFleet {
	t.Helper()
	f := &waitingFleet{memory: NewMemoryStore(), start: time.Now(), at: map[string]time.Duration{}}
	if c.Lanes == nil {
		c.Lanes = fleetLanes
	}
	c.Outage = OutageClosed
	for range processes {
		s := &fatedStore{remoteStore: remoteStore{countingStore{Store: f.memory}}}
		c.Store = s
		f.stores = append(f.stores, s)
		f.processes = append(f.processes, testThrottle(t, c))
	}
	return f
}

// acquire has a process make a call of so many tokens, and notes when it goes.
func (f *waitingFleet) acquire(ctx context.Context, process int, name string, l lanes.Lane, tokens int64) {
	c := testCall
	c.Lane, c.Cost.InputTokens = l, tokens
	p, err := f.processes[process].Acquire(ctx, c)
	if err != nil {
		return
	}
	p.Done()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.went = append(f.went, name)
	f.at[name] = time.Since(f.start)
}

// enter is an acquire in the background that has been judged when enter returns.
func (f *waitingFleet) enter(process int, name string, l lanes.Lane, tokens int64) (cancel func()) {
	time.Sleep(time.Millisecond) // nobody comes at the very instant of another
	ctx, cancel := context.WithCancel(context.Background())
	go f.acquire(ctx, process, name, l, tokens)
	synctest.Wait()
	return cancel
}

// until waits until the calls have gone.
func (f *waitingFleet) until(t *testing.T, n int) []string {
	t.Helper()
	for range 100_000 {
		time.Sleep(time.Millisecond)
		f.mu.Lock()
		went := slices.Clone(f.went)
		f.mu.Unlock()
		if len(went) >= n {
			return went
		}
	}
	t.Fatalf("only %v went", f.went)
	return nil
}

func (f *waitingFleet) when(name string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at[name]
}

// tickets are those in the records of the test's account: of its budget, and
// its own.
func (f *waitingFleet) tickets() (budget, account []ticket) {
	f.memory.mu.Lock()
	defer f.memory.mu.Unlock()
	a := f.memory.accounts["k"]
	for _, r := range a.budgets {
		budget = append(budget, r.line...)
	}
	return budget, a.whole.line
}

// nothingLeft fails the test if a ticket stands.
func (f *waitingFleet) nothingLeft(t *testing.T) {
	t.Helper()
	if budget, account := f.tickets(); len(budget)+len(account) != 0 {
		t.Errorf("tickets are left: %v in budgets, %v in the account", budget, account)
	}
}

func perSecond(n int64) Limit { return Requests(n, time.Second).Using(TokenBucket).WithBurst(1) }

func TestWhoWaitsLongerGoesFirstAcrossTheFleet(t *testing.T) {
	for _, processes := range []int{2, 3} {
		synctest.Test(t, func(t *testing.T) {
			f := newWaitingFleet(t, processes, Config{Budgets: testBudget(perSecond(1))})
			for i, s := range f.stores {
				s.set(false, time.Duration(i)*10*time.Millisecond) // some are nearer
			}
			var want []string
			for i := range 12 {
				name := fmt.Sprint("call ", i)
				f.enter(i*i%processes, name, high, 0)
				time.Sleep(51 * time.Millisecond)
				want = append(want, name)
			}
			if went := f.until(t, 12); !slices.Equal(went, want) {
				t.Errorf("%d processes: calls went in the order %v", processes, went)
			}
			// Each is late by a round trip at most, and a bucket of one keeps nothing for later.
			if last := f.when("call 11"); last > 11*time.Second+12*20*time.Millisecond {
				t.Errorf("%d processes: the last went after %v: room was left unused", processes, last)
			}
		})
	}
}

func TestABigCallIsNotStarvedByOtherProcessesSmallOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWaitingFleet(t, 3, Config{Budgets: testBudget(
			Tokens(100, 10*time.Second).Using(TokenBucket), Requests(1000, time.Second).Using(TokenBucket),
		)})
		f.enter(0, "first", high, 100)
		f.enter(1, "big", high, 100) // ten seconds from now
		stop := time.Now().Add(9 * time.Second)
		for _, process := range []int{0, 2} {
			go func() {
				for time.Now().Before(stop) {
					f.acquire(context.Background(), process, "small", atOnce, 5)
					f.acquire(context.Background(), process, "without tokens", atOnce, 0)
					time.Sleep(20 * time.Millisecond)
				}
			}()
		}
		time.Sleep(11 * time.Second)
		synctest.Wait()
		if at := f.when("big"); at < 10*time.Second || at > 10*time.Second+10*time.Millisecond {
			t.Errorf("the big call went after %v, want 10s", at)
		}
		if at := f.when("small"); at != 0 {
			t.Errorf("a small call behind it in the line went after %v", at)
		}
		n := 0
		for _, name := range f.went {
			if name == "without tokens" {
				n++
			}
		}
		if n < 800 {
			t.Errorf("%d of 900 calls went that need no tokens", n)
		}
	})
}

func TestAHigherLanesTicketHoldsBackLowerOnesAndNeverTheReverse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWaitingFleet(t, 2, Config{Budgets: testBudget(perSecond(1))})
		f.enter(0, "first", high, 0)
		f.enter(0, "low 1", low, 0)
		time.Sleep(100 * time.Millisecond)
		f.enter(1, "high 1", high, 0)
		f.enter(1, "low 2", low, 0)
		time.Sleep(100 * time.Millisecond)
		f.enter(0, "high 2", high, 0)
		want := []string{"first", "high 1", "high 2", "low 1", "low 2"}
		if went := f.until(t, 5); !slices.Equal(went, want) {
			t.Errorf("calls went in the order %v, want %v", went, want)
		}
	})
}

func TestADeadProcessHoldsUpOthersForAQuarterOfASecondAfterItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWaitingFleet(t, 3, Config{Budgets: testBudget(perSecond(1))})
		f.enter(0, "first", high, 0)
		f.enter(1, "dead", high, 0) // its turn is in a second
		time.Sleep(100 * time.Millisecond)
		f.enter(2, "alive", high, 0)
		f.enter(0, "low", low, 0)
		f.stores[1].set(true, 0)
		f.until(t, 2)
		if at := f.when("alive"); at < time.Second || at > 1260*time.Millisecond {
			t.Errorf("the call behind a dead process went after %v, want 1.25s", at)
		}
		f.until(t, 3)
		if at := f.when("low"); at > 2260*time.Millisecond {
			t.Errorf("the one behind it went after %v, want 2.25s: nobody dead is in its way", at)
		}
	})
}

func TestAllTicketsOfADeadProcessAreVoidTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWaitingFleet(t, 2, Config{
			Budgets: testBudget(Requests(2, time.Second).Using(TokenBucket)),
			Account: []Limit{Tokens(100, time.Hour).Using(TokenBucket)},
		})
		f.enter(0, "tokens", high, 100)
		f.enter(0, "first", high, 0)
		f.enter(1, "waits for requests", low, 0) // half a second
		f.enter(1, "waits for tokens", high, 50) // half an hour
		if budget, account := f.tickets(); len(budget) != 2 || len(account) != 1 {
			t.Fatalf("tickets are %v in the budget, %v in the account", budget, account)
		}
		f.stores[1].set(true, 0)
		time.Sleep(1300 * time.Millisecond) // the first of them is void
		f.enter(0, "next", atOnce, 0)
		f.nothingLeft(t)
	})
}

func TestALateProcessThatLivesKeepsItsPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWaitingFleet(t, 2, Config{Budgets: testBudget(Requests(1, 10*time.Second).Using(TokenBucket))})
		f.enter(0, "first", high, 0)
		f.enter(0, "late", high, 0)
		time.Sleep(100 * time.Millisecond)
		f.enter(1, "second", high, 0)
		f.enter(1, "third", high, 0)
		f.stores[0].set(false, 400*time.Millisecond) // its ticket is void when it comes
		time.Sleep(12 * time.Second)
		f.stores[0].set(false, 0)
		want := []string{"first", "second", "late", "third"}
		if went := f.until(t, 4); !slices.Equal(went, want) {
			t.Errorf("calls went in the order %v, want %v", went, want)
		}
	})
}

func TestTicketsOfEveryLaneAreRenewedWithEachClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ls []lanes.Lane
		for i := range 24 {
			ls = append(ls, lanes.Lane{Name: fmt.Sprint("lane ", i), Share: 1, Wait: -1})
		}
		f := newWaitingFleet(t, 1, Config{Lanes: append(ls, atOnce), Budgets: testBudget(Tokens(100, time.Hour).Using(TokenBucket))})
		f.enter(0, "first", atOnce, 100)
		for _, l := range ls {
			for range 3 {
				f.enter(0, "waits", l, 50)
			}
		}
		f.enter(0, "passes", atOnce, 0) // a claim that has other business
		budget, _ := f.tickets()
		seen := map[int]bool{}
		for _, tk := range budget {
			seen[tk.lane] = true
		}
		if len(budget) != len(ls) || len(seen) != len(ls) {
			t.Errorf("%d tickets of %d lanes, want one for each of %d", len(budget), len(seen), len(ls))
		}
	})
}

func TestWaitingInOneBudgetHoldsBackAnotherOnTheAccountsLimitOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWaitingFleet(t, 2, Config{
			Budgets: []Budget{
				{Name: "one", Models: []string{"one"}, Limits: []Limit{perSecond(1)}},
				{Name: "two", Models: []string{"two"}, Limits: []Limit{perSecond(10)}},
			},
			Account: []Limit{Tokens(100, 100*time.Second).Using(TokenBucket)},
		})
		try := func(process int, model string, l lanes.Lane, tokens int64) error {
			p, err := f.processes[process].Acquire(context.Background(), Call{Key: "k", Model: model, Lane: l, Cost: Cost{InputTokens: tokens}})
			p.Done()
			return err
		}
		if err := try(0, "one", atOnce, 90); err != nil {
			t.Fatal(err)
		}
		go func() { _ = try(0, "one", high, 50) }() // waits for the account's tokens, and a request of its own budget
		synctest.Wait()
		if err := try(1, "two", atOnce, 5); !errors.Is(err, ErrBudget) {
			t.Errorf("a call of another budget passed the one that waits for the account's tokens: %v", err)
		}
		if err := try(1, "two", atOnce, 0); err != nil {
			t.Errorf("a call that needs no tokens: %v", err)
		}
	})
}
