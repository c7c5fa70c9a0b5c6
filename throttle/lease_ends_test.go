package throttle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/pause"
)

// longLease is trusted for a minute.
var longLease = leasing.Policy{Chunk: 50, MaxAge: time.Minute}

// mustGo makes a call that must go, and ends its permit.
func (l leaser) mustGo(t *testing.T, lane string, tokens int64) {
	t.Helper()
	p, _, err := l.try(lane, tokens)
	if err != nil {
		t.Fatal(err)
	}
	p.Done()
}

func TestAPauseEndsTheLeasesOfEveryProcessAtOnce(t *testing.T) { // B30
	for _, scope := range []Scope{ScopeModel, ScopeKey} {
		synctest.Test(t, func(t *testing.T) {
			memory := NewMemoryStore()
			c := Config{Lease: longLease, Budgets: testBudget(Requests(10_000, time.Hour))}
			fleet := []leaser{newLeaser(t, memory, c), newLeaser(t, memory, c), newLeaser(t, memory, c)}
			var paused time.Time
			after := 0
			for i := range 300 {
				for j, l := range fleet {
					p, _, err := l.try("live", 0)
					if err != nil {
						if paused.IsZero() || !errors.Is(err, ErrPaused) {
							t.Fatal(err)
						}
						continue
					}
					if !paused.IsZero() {
						after++
					}
					if i == 100 && j == 0 {
						p.Answered(Verdict{Class: Busy, Scope: scope, Wait: time.Minute})
						paused = time.Now()
					}
					p.Done()
				}
				time.Sleep(10 * time.Millisecond)
			}
			if after > 0 {
				t.Errorf("scope %v: %d calls went after the vendor's word", scope, after)
			}
			if got := fleet[0].charged(); got != 301 {
				t.Errorf("scope %v: %v are charged, want the 301 calls: the rest was to be given back", scope, got)
			}
		})
	}
}

func TestThereIsNoLeaseInARamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: chunkOfTen, Budgets: testBudget(Requests(1000, time.Second)), Pause: pause.Policy{Ramp: 5 * time.Second}})
		p, _, err := l.try("live", 0)
		if err != nil {
			t.Fatal(err)
		}
		p.Answered(Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Second})
		p.Done()
		time.Sleep(1100 * time.Millisecond)
		for range 49 {
			l.mustGoOrNot(t)
			if n := l.leasedNow(0); n != 0 {
				t.Fatalf("%v calls are leased in the ramp", n)
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Second)
		l.mustGo(t, "live", 0)
		if n := l.leasedNow(0); n != 10 {
			t.Errorf("%v calls are leased after the ramp", n)
		}
	})
}

func (l leaser) mustGoOrNot(t *testing.T) {
	t.Helper()
	if p, _, err := l.try("live", 0); err == nil {
		p.Done()
	} else if !errors.Is(err, ErrBudget) && !errors.Is(err, ErrPaused) {
		t.Fatal(err)
	}
}

func TestALeaseIsTrustedFromTheBeginningOfItsClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: leasing.Policy{Chunk: 50, MaxAge: 3 * time.Second}, Budgets: testBudget(Requests(10_000, time.Hour))})
		l.store.set(false, 1500*time.Millisecond)
		l.mustGo(t, "live", 0) // the lease has 1490 ms left when it comes
		l.store.set(false, time.Millisecond)
		if _, took, _ := l.try("live", 0); took != 0 {
			t.Error("a lease in its time isn't spent")
		}
		time.Sleep(1490 * time.Millisecond)
		if _, took, _ := l.try("live", 0); took == 0 {
			t.Error("a lease was spent beyond its time")
		}
	})
}

// Timers of a process that was stopped are late, too: the call's own look at
// the clock counts.
func TestALeaseIsNotSpentByAProcessThatStoodStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: leasing.Policy{Chunk: 50, MaxAge: time.Second}, Budgets: testBudget(Requests(10_000, time.Hour))})
		l.mustGo(t, "live", 0)
		q, _ := l.queueFor(&testCall)
		q.leases.mu.Lock()
		q.leases.lanes[0].chunks[0].end.Stop()
		q.leases.mu.Unlock()
		time.Sleep(2 * time.Second)
		before := l.store.claims.Load()
		l.mustGo(t, "live", 0)
		if l.store.claims.Load() == before {
			t.Error("a lease was spent beyond its time")
		}
	})
}

func TestALeaseOnceTheClaimTookLongerThanItsAgeIsNotSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: leasing.Policy{Chunk: 50, MaxAge: time.Second}, Budgets: testBudget(Requests(10_000, time.Hour))})
		l.store.set(false, 1200*time.Millisecond)
		for range 3 {
			if _, took, err := l.try("live", 0); err != nil || took < time.Second {
				t.Fatalf("after %v: %v; a lease was spent beyond its age", took, err)
			}
		}
		l.store.set(false, time.Millisecond)
		time.Sleep(3 * time.Second)
		if got := l.charged(); got != 3 {
			t.Errorf("%v are charged for three calls", got)
		}
	})
}

func TestSettlementsGoIntoTheChunkAndAfterItsEndToTheWindowCharged(t *testing.T) { // B113
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: chunkOfTen, Budgets: testBudget(Tokens(100_000, 24*time.Hour))})
		l.mustGo(t, "live", 100) // and ten like it
		first, _, err := l.try("live", 100)
		if err != nil {
			t.Fatal(err)
		}
		stream, _, err := l.try("live", 100)
		if err != nil {
			t.Fatal(err)
		}
		trips := l.store.claims.Load()
		first.Settle(Cost{InputTokens: 40})
		if _, took, err := l.try("live", 850); err != nil || took > 0 || l.store.claims.Load() != trips {
			t.Errorf("what a call didn't need isn't spent: %v after %v", err, took)
		}
		time.Sleep(45 * time.Minute)
		if got := l.charged(); got != 100+40+100+850 {
			t.Errorf("%v are charged when the chunk has ended", got)
		}
		stream.Settle(Cost{InputTokens: 70})
		time.Sleep(time.Second)
		if got := l.charged(); got != 100+40+70+850 {
			t.Errorf("%v are charged in the end", got)
		}
	})
}

func TestAnExcessMakesADebtOfTheChunkAndIsChargedInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: chunkOfTen, Budgets: testBudget(Tokens(100_000, 24*time.Hour))})
		l.mustGo(t, "live", 100)
		p, _, err := l.try("live", 100)
		if err != nil {
			t.Fatal(err)
		}
		p.Settle(Cost{InputTokens: 5000})
		time.Sleep(2 * time.Second)
		if got := l.charged(); got != 5100 {
			t.Errorf("%v are charged, want 5100", got)
		}
	})
}

func TestACancelledCallCanGoAgainFromItsChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: chunkOfTen, Budgets: testBudget(Requests(1000, 24*time.Hour))})
		l.mustGo(t, "live", 0)
		for range 100 {
			p, _, err := l.try("live", 0)
			if err != nil {
				t.Fatal(err)
			}
			p.Cancel()
		}
		if n := l.store.claims.Load(); n != 1 {
			t.Errorf("%d round trips for a hundred cancelled calls", n)
		}
		time.Sleep(2 * time.Second)
		if got := l.charged(); got != 1 {
			t.Errorf("%v are charged, want one", got)
		}
	})
}

func TestARefusedKeySpendsNoLeaseAndItsNextGenerationNotTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryStore()
		c := Config{Lease: longLease, Budgets: testBudget(Requests(10_000, time.Hour))}
		one, two := newLeaser(t, memory, c), newLeaser(t, memory, c)
		one.mustGo(t, "live", 0)
		two.mustGo(t, "live", 0)
		refuse := func() {
			t.Helper()
			p, _, err := one.try("live", 0)
			if err != nil {
				t.Fatal(err)
			}
			p.Answered(Verdict{Class: KeyRefused})
			p.Done()
			for _, l := range []leaser{one, two} {
				if _, _, err := l.try("live", 0); !errors.Is(err, ErrKeyRefused) {
					t.Fatalf("a call of a refused key: %v", err)
				}
			}
		}
		refuse()
		time.Sleep(5 * time.Minute) // the leases have ended, the probe is due
		p, _, err := two.try("live", 0)
		if err != nil || !p.Probe() {
			t.Fatalf("the probe: %v", err)
		}
		p.Answered(Verdict{Class: OK})
		p.Done()
		one.mustGo(t, "live", 0)
		refuse() // the answer to a leased call is of the key's present generation
	})
}

func TestALeaseOfAnOpenedKeyKnowsItsGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: leasing.Policy{Chunk: 50, MaxAge: time.Hour}, Budgets: testBudget(Requests(10_000, time.Hour))})
		l.mustGo(t, "live", 0) // leased for an hour
		for range 3 {
			p, _, err := l.try("live", 0)
			if err != nil {
				t.Fatal(err)
			}
			p.Answered(Verdict{Class: KeyRefused})
			p.Done()
			if _, _, err := l.try("live", 0); !errors.Is(err, ErrKeyRefused) {
				t.Fatalf("a call of a refused key: %v", err)
			}
			time.Sleep(5 * time.Minute)
			p, _, err = l.try("live", 0)
			if err != nil || !p.Probe() {
				t.Fatalf("the probe: %v", err)
			}
			p.Answered(Verdict{Class: OK})
			p.Done()
		}
	})
}

func TestADeniedModelSpendsNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryStore()
		c := Config{Lease: longLease, Budgets: []Budget{{Models: []string{"*"}, Limits: []Limit{Requests(10_000, time.Hour)}}}}
		one, two := newLeaser(t, memory, c), newLeaser(t, memory, c)
		one.mustGo(t, "live", 0)
		two.mustGo(t, "live", 0)
		p, _, err := one.try("live", 0)
		if err != nil {
			t.Fatal(err)
		}
		p.Answered(Verdict{Class: ModelDenied, Scope: ScopeModel})
		p.Done()
		for _, l := range []leaser{one, two} {
			if _, _, err := l.try("live", 0); !errors.Is(err, ErrModelDenied) {
				t.Errorf("a call of a denied model: %v", err)
			}
			if p, err := l.Acquire(context.Background(), Call{Key: "k", Model: "another"}); err != nil {
				t.Errorf("a call of another model: %v", err)
			} else {
				p.Done()
			}
		}
	})
}
