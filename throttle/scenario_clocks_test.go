package throttle

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/probe"
)

// Clocks that don't agree: nothing but the store's own counts.

// A clockStore has a clock of its own, which a test sets, and notes what it is
// asked, as it would travel.
type clockStore struct {
	*MemoryStore
	mu    sync.Mutex
	at    float64
	asked [][]byte
}

func (s *clockStore) claim(_ context.Context, c *claim) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := *c
	if sent.process != "" {
		sent.process = "random"
	}
	if sent.probe != "" {
		sent.probe = "random"
	}
	sent.birth, sent.knows = "random", [2]string{}
	sent.runs = slices.Clone(c.runs)
	for i := range sent.runs {
		if sent.runs[i].holds != "" {
			sent.runs[i].holds = "random"
		}
	}
	if v := sent.verdict; v != nil && v.probe != "" {
		copied := *v
		copied.probe, sent.verdict = "random", &copied
	}
	var p packer
	p.claim(&sent)
	s.asked = append(s.asked, p.buf)
	a, _, _, err := s.decide(c, s.at)
	return a, err
}

func (s *clockStore) pass(d time.Duration) {
	s.mu.Lock()
	s.at += microsOf(d)
	s.mu.Unlock()
	time.Sleep(d)
	synctest.Wait()
}

// What a process sends, whatever it does, is the same to the byte at any time
// of its own.
func TestNoTimeOfAProcessReachesTheStore(t *testing.T) { // B118
	ask := func(t *testing.T, skew time.Duration) (asked [][]byte) {
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(skew)
			store := &clockStore{MemoryStore: NewMemoryStore(), at: 1e15}
			th := testThrottle(t, Config{
				Store: store, Probe: probe.Policy{Every: 2 * time.Second},
				Budgets: testBudget(Requests(3, 10*time.Second), Tokens(100, 10*time.Second).Using(TokenBucket)), Account: []Limit{Requests(100, time.Hour).Using(SlidingLog)},
			})
			everything(t, th, store)
			asked = store.asked
		})
		return asked
	}
	want := ask(t, 0)
	if len(want) < 8 {
		t.Fatalf("only %d claims were made", len(want))
	}
	for _, skew := range []time.Duration{time.Second, 90 * time.Second, 1000 * time.Hour} {
		got := ask(t, skew)
		for i := range min(len(got), len(want)) {
			if !bytes.Equal(got[i], want[i]) {
				t.Errorf("claim %d of a process whose clock goes %v ahead is\n%q\nwant\n%q", i, skew, got[i], want[i])
				break
			}
		}
		if len(got) != len(want) {
			t.Errorf("a process whose clock goes %v ahead makes %d claims, want %d", skew, len(got), len(want))
		}
	}
}

// everything makes each kind of claim there is.
func everything(t *testing.T, th *Throttle, store *clockStore) {
	t.Helper()
	acquire := func(tokens int64) (Permit, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		c := testCall
		c.Cost.InputTokens = tokens
		return th.Acquire(ctx, c)
	}
	first, _ := acquire(40)
	store.pass(100 * time.Millisecond)
	second, _ := acquire(30)
	second.Cancel()
	first.Settle(Cost{InputTokens: 55})
	store.pass(time.Second)
	waiting := make(chan Permit)
	go func() {
		p, _ := acquire(80)
		waiting <- p
	}()
	synctest.Wait()
	store.pass(4 * time.Second)
	p := <-waiting
	p.Answered(Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Second})
	store.pass(3 * time.Second)
	p.Answered(Verdict{Class: KeyRefused})
	p.Done()
	store.pass(3 * time.Second)
	if p, err := acquire(1); err != nil || !p.Probe() {
		t.Errorf("no probe: %v", err)
	} else {
		p.Answered(Verdict{Class: OK})
		p.Done()
	}
}

// Whoever comes with a time that is older than the state, because it was read
// before a lock or the clock was set back, gets nothing twice.
func TestATimeOlderThanTheStateGivesNothingTwice(t *testing.T) { // B120
	for _, algorithm := range []Algorithm{SlidingWindow, FixedWindow, SlidingLog, TokenBucket, GCRA} {
		m, luck := NewMemoryStore(), rand.New(rand.NewPCG(1, 9))
		c := claim{account: "k", budget: "b", own: 1, keys: []Fingerprint{"k"}, models: []modelID{""}, runs: []run{{n: 1, cost: []float64{1}}}}
		c.limits = compileLimits([]Limit{Requests(10, time.Second).Using(algorithm)}, noWait, "k")
		went := 0
		for step := range 3000 { // of 10 ms
			now := 1e15 + 10_000*float64(step) - float64(luck.IntN(1_000_000))
			a, _, _, err := m.decide(&c, now)
			if err != nil {
				t.Fatal(err)
			}
			if a.outcomes[0][0].code == granted {
				went++
			}
		}
		if most := 10 * (30 + 2); went > most || went < 10*15 {
			t.Errorf("%v: %d went in 30 seconds of ten each", algorithm, went)
		}
	}
}

// A carriedStore is asked from inside a bubble, where it is another time, and
// answers from outside.
type carriedStore struct {
	Store
	mu      sync.Mutex
	asks    chan *claim
	answers chan answer
	errs    chan error
}

func carry(t *testing.T, store Store) *carriedStore {
	s := &carriedStore{Store: store, asks: make(chan *claim), answers: make(chan answer, 1), errs: make(chan error, 1)}
	t.Cleanup(func() { close(s.asks) })
	go func() {
		for c := range s.asks {
			a, err := store.claim(context.Background(), c)
			s.answers <- a
			s.errs <- err
		}
	}()
	return s
}

func (s *carriedStore) claim(_ context.Context, c *claim) (answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks <- c
	return <-s.answers, <-s.errs
}

func (s *carriedStore) watch(func(notice)) func() { return func() {} } // it learns with its next claim

func TestProcessesOfDifferentTimesShareOneBudgetAndOnePause(t *testing.T) { // B118
	store := redisStore(t)
	cfg := Config{Store: store, Lanes: noWait, Budgets: testBudget(
		Requests(12, 24*time.Hour), Requests(12, 24*time.Hour).Using(TokenBucket), Requests(12, 24*time.Hour).Using(SlidingLog),
	)}
	here := testThrottle(t, cfg)
	// In a bubble it is the year 2000, and a little later if one waits.
	elsewhen := func(later time.Duration, f func(th *Throttle)) {
		skewed := cfg
		skewed.Store = carry(t, store)
		synctest.Test(t, func(t *testing.T) {
			time.Sleep(later)
			f(testThrottle(t, skewed))
		})
	}
	went := 0
	try := func(n int) func(th *Throttle) {
		return func(th *Throttle) {
			got, _ := admitted(th, n, noWait[0])
			went += got
		}
	}
	try(3)(here)
	elsewhen(0, try(3))
	elsewhen(90*time.Second, try(3))
	elsewhen(50*time.Hour, try(12))
	try(12)(here)
	if went != 12 {
		t.Errorf("%d calls went, want 12", went)
	}

	other := Call{Key: "paused", Model: "m"}
	elsewhen(50*time.Hour, func(th *Throttle) {
		p, err := th.Acquire(context.Background(), other)
		if err != nil {
			t.Error(err)
		}
		p.Answered(Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Minute})
		p.Done()
	})
	learns := func(th *Throttle) {
		_, err := th.Acquire(context.Background(), other)
		var e *DeniedError
		if !errors.As(err, &e) || !errors.Is(err, ErrPaused) || e.RetryAfter > time.Minute || e.RetryAfter < 30*time.Second {
			t.Errorf("another process was answered %v", err)
		}
	}
	learns(here)
	elsewhen(0, learns)
	elsewhen(1000*time.Hour, learns)
}
