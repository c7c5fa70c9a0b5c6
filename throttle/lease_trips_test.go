package throttle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
)

// A leaser is a throttle on a memory store that is some way off.
type leaser struct {
	*Throttle
	store *fatedStore
}

func newLeaser(t *testing.T, memory *MemoryStore, c Config) leaser {
	t.Helper()
	s := &fatedStore{remoteStore: remoteStore{countingStore{Store: memory}}}
	c.Store = s
	if c.Lanes == nil {
		c.Lanes = []lanes.Lane{{Name: "live", Share: 1}, {Name: "background", Share: 0.6}}
	}
	return leaser{testThrottle(t, c), s}
}

// try makes a call without waiting, and returns how long that took.
func (l leaser) try(lane string, tokens int64) (Permit, time.Duration, error) {
	start := time.Now()
	c := testCall
	c.Lane.Name, c.Cost.InputTokens = lane, tokens
	p, err := l.Acquire(context.Background(), c)
	return p, time.Since(start), err
}

// charged is what the store has charged to the first limit of the budget.
func (l leaser) charged() float64 {
	return charged(l.store.Store.(*MemoryStore), "k", "m")
}

// leasedNow is how many calls of the test's budget can go without asking.
func (l leaser) leasedNow(lane int) float64 {
	q, _ := l.queueFor(&testCall)
	return q.leased(lane)
}

var chunkOfTen = leasing.Policy{Chunk: 10}

func TestASteadyCallerMakesOneRoundTripForTenCallsAndNeverWaitsForIt(t *testing.T) {
	for _, every := range []time.Duration{5 * time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			l := newLeaser(t, NewMemoryStore(), Config{Lease: chunkOfTen, Budgets: testBudget(Requests(1_000_000, time.Hour), Tokens(1e9, time.Hour))})
			l.store.set(false, 2*time.Millisecond)
			const calls = 400
			slow := 0
			for i := range calls {
				p, took, err := l.try("live", 100)
				if err != nil {
					t.Fatal(err)
				}
				if took > 0 && i > 0 {
					slow++
				}
				go func() {
					time.Sleep(20 * time.Millisecond)
					p.Settle(Cost{InputTokens: 90, OutputTokens: 5})
				}()
				time.Sleep(every)
			}
			time.Sleep(time.Second)
			if slow > 0 {
				t.Errorf("a call each %v: %d of %d waited for a round trip", every, slow, calls)
			}
			// Where fewer than a chunk come within its age, each age has one.
			if n := l.store.claims.Load(); n > calls/10+calls/10/5+calls*int64(every)/int64(600*time.Millisecond) {
				t.Errorf("a call each %v: %d round trips for %d calls", every, n, calls)
			}
		})
	}
}

func TestACallerThatHasALeaseMakesNoRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: chunkOfTen, Budgets: testBudget(Requests(1000, time.Hour))})
		for i := range 8 { // the first, and all but a quarter of the ten
			p, _, err := l.try("live", 0)
			if err != nil {
				t.Fatal(err)
			}
			p.Done()
			synctest.Wait()
			if n := l.store.claims.Load(); n != 1 {
				t.Fatalf("%d round trips after %d calls", n, i+1)
			}
		}
		if got := l.charged(); got != 11 {
			t.Errorf("%v are charged for the call and the ten ahead, want 11", got)
		}
	})
}

// Calls of two keys of one account spend the same chunk.
func TestKeysOfOneAccountShareItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: chunkOfTen, Budgets: testBudget(Requests(10_000, time.Hour))})
		for i := range 200 {
			c := Call{Account: "acme", Model: "m", Key: []Fingerprint{"k1", "k2", "k3"}[i%3]}
			p, err := l.Acquire(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			p.Done()
			time.Sleep(time.Millisecond)
		}
		if n := l.store.claims.Load(); n > 30 {
			t.Errorf("%d round trips for 200 calls of three keys", n)
		}
	})
}

func TestWhatIsLeftIsGivenBackWhenNobodyCallsAndOnClose(t *testing.T) {
	for _, end := range []func(leaser){
		func(l leaser) { _ = l.Close() },
		func(leaser) { time.Sleep(time.Second + 20*time.Millisecond) },
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLeaser(t, NewMemoryStore(), Config{Lease: chunkOfTen, Budgets: testBudget(Requests(1000, time.Hour))})
			l.store.set(false, time.Millisecond)
			for _, lane := range []string{"live", "live", "background"} {
				p, _, err := l.try(lane, 0)
				if err != nil {
					t.Fatal(err)
				}
				p.Done()
			}
			if got := l.charged(); got <= 3 {
				t.Fatalf("%v are charged: nothing was leased", got)
			}
			end(l)
			if got := l.charged(); got != 3 {
				t.Errorf("%v are charged in the end, want the three calls", got)
			}
			time.Sleep(time.Minute)
			if n := l.store.claims.Load(); n > 6 {
				t.Errorf("%d round trips while nobody called", n)
			}
		})
	}
}
