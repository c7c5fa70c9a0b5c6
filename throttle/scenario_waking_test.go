package throttle

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/probe"
)

// Waiting together: nobody is held up by a neighbour, a leader or a store.

// A slowStore is a remote store some of whose claims take their time.
type slowStore struct {
	Store
	takes func(*claim) time.Duration
	most  atomic.Int64 // calls in a claim
}

func (s *slowStore) immediate() bool { return false }

func (s *slowStore) claim(ctx context.Context, c *claim) (answer, error) {
	n := 0
	for i := range c.runs {
		n += c.runs[i].n
	}
	s.most.Store(max(s.most.Load(), int64(n))) // a bubble's claims for one budget come one by one
	time.Sleep(s.takes(c))
	return s.Store.claim(ctx, c)
}

var waitsLong = []lanes.Lane{{Name: "live", Share: 1, Wait: -1}}

func TestManyWaitersReachTheLimit(t *testing.T) { // B148
	for _, limit := range []Limit{
		Requests(100, time.Second), Requests(100, time.Second).Using(FixedWindow), Requests(100, time.Second).Using(SlidingLog),
		Requests(6000, time.Minute).Using(TokenBucket).WithBurst(10), Requests(6000, time.Minute).Using(GCRA).WithBurst(1),
	} {
		t.Run(limit.Algorithm.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &slowStore{Store: NewMemoryStore(), takes: func(*claim) time.Duration { return time.Millisecond }}
				th := testThrottle(t, Config{Store: store, Lanes: waitsLong, Budgets: testBudget(limit)})
				if n := drawn(th, 200, 5*time.Second, 20*time.Millisecond); n < 5*100*95/100 {
					t.Errorf("%d calls went in five seconds, want 95 in a hundred of 500", n)
				}
			})
		})
	}
}

// drawn counts how many calls go where a number of callers each send one after
// the other.
func drawn(th *Throttle, callers int, lasts, answer time.Duration) int {
	ctx, cancel := context.WithTimeout(context.Background(), lasts)
	defer cancel()
	var went atomic.Int64
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for {
				p, err := th.Acquire(ctx, testCall)
				if err != nil {
					return
				}
				went.Add(1)
				time.Sleep(answer)
				p.Done()
			}
		})
	}
	wg.Wait()
	return int(went.Load())
}

func TestOneOfAHundredThatStaysIsServedAndSoIsWhoeverComesNext(t *testing.T) { // B150
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		store := &slowStore{Store: NewMemoryStore(), takes: func(*claim) time.Duration { <-hold; return 0 }}
		th := testThrottle(t, Config{Store: store, Lanes: waitsLong, Budgets: testBudget(Requests(3, 24*time.Hour))})
		ctx, cancel := context.WithCancel(context.Background())
		results := make(chan error, 100)
		acquire := func(ctx context.Context) {
			_, err := th.Acquire(ctx, testCall)
			results <- err
		}
		for i := range 100 {
			if i == 57 {
				go acquire(context.Background())
			} else {
				go acquire(ctx)
			}
		}
		synctest.Wait()
		cancel()
		for range 99 {
			if err := <-results; !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled call: %v", err)
			}
		}
		close(hold)
		start := time.Now()
		for range 2 {
			go acquire(context.Background())
		}
		for range 3 {
			if err := <-results; err != nil {
				t.Error(err)
			}
		}
		if got := time.Since(start); got > settleWait { // what a cancelled call was granted comes back at once
			t.Errorf("the others went after %v", got)
		}
	})
}

func TestABudgetWhoseClaimHangsHoldsUpNoOther(t *testing.T) { // B151
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{Store: NewMemoryStore(), takes: func(c *claim) time.Duration {
			if c.budget == "m" {
				return time.Second
			}
			return 0
		}}
		th := testThrottle(t, Config{Store: store, Budgets: []Budget{
			{Models: []string{"m"}, Limits: []Limit{Requests(10_000, time.Hour)}}, {Name: "others", Models: []string{"*"}, PerModel: true, Limits: []Limit{Requests(100, time.Hour)}},
		}})
		start := time.Now()
		var wg sync.WaitGroup
		acquire := func(model string, within time.Duration) {
			wg.Go(func() {
				if _, err := th.Acquire(context.Background(), Call{Key: "k", Model: model}); err != nil || time.Since(start) > within {
					t.Errorf("%s: after %v: %v", model, time.Since(start), err)
				}
			})
		}
		acquire("m", time.Second)
		synctest.Wait()
		for i := range 1000 {
			acquire("other"+string(rune('a'+i%20)), 0)
			acquire("m", 5*time.Second) // four claims behind the first
		}
		wg.Wait()
		if n := store.most.Load(); n > 256 {
			t.Errorf("a claim carried %d calls, want at most 256", n)
		}
	})
}

func TestAGroupBehindASilentStoreReturnsWithinOneTimeout(t *testing.T) { // B152
	synctest.Test(t, func(t *testing.T) {
		const timeout = 50 * time.Millisecond
		silent := &flakyStore{NewMemoryStore(), func() fate {
			time.Sleep(timeout)
			return lost
		}}
		th := testThrottle(t, Config{Store: &remoteStore{countingStore{Store: silent}}, Outage: OutageClosed})
		start := time.Now()
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() {
				if _, err := th.Acquire(context.Background(), testCall); !errors.Is(err, ErrStore) {
					t.Error(err)
				}
				if got := time.Since(start); got > timeout {
					t.Errorf("a call returned after %v", got)
				}
			})
		}
		wg.Wait()
	})
}

func TestCloseEndsWaitersAndProbesWhileTheStoreHangs(t *testing.T) { // B153
	synctest.Test(t, func(t *testing.T) {
		const timeout = 50 * time.Millisecond
		var hangs atomic.Bool
		flaky := &flakyStore{NewMemoryStore(), func() fate {
			if !hangs.Load() {
				return arrives
			}
			time.Sleep(timeout)
			return lost
		}}
		probing := make(chan struct{})
		th := testThrottle(t, Config{
			Store: &remoteStore{countingStore{Store: flaky}}, Lanes: waitsLong, Budgets: testBudget(Requests(10, 24*time.Hour)),
			Probe: probe.Policy{Every: time.Minute, Send: func(ctx context.Context, _ string) error {
				close(probing)
				<-ctx.Done()
				return ctx.Err()
			}},
		})
		refused, err := th.Acquire(context.Background(), Call{Key: "refused", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		refused.Answered(Verdict{Class: KeyRefused})
		var streams []Permit
		for range 10 {
			p, err := th.Acquire(context.Background(), testCall)
			if err != nil {
				t.Fatal(err)
			}
			streams = append(streams, p)
		}
		waiting := make(chan error, 100)
		for range cap(waiting) {
			go func() {
				_, err := th.Acquire(context.Background(), testCall)
				waiting <- err
			}()
		}
		<-probing
		hangs.Store(true)
		streams[0].Cancel() // a claim is under way when Close comes
		start := time.Now()
		_ = th.Close()
		if got := time.Since(start); got > 2*timeout {
			t.Errorf("Close took %v, want at most %v", got, 2*timeout)
		}
		for range cap(waiting) {
			if err := <-waiting; !errors.Is(err, ErrClosed) {
				t.Errorf("a waiting call: %v", err)
			}
		}
		for _, p := range streams { // they go on, and end as always
			p.Settle(Cost{Requests: 2})
		}
		time.Sleep(time.Minute)
	})
}
