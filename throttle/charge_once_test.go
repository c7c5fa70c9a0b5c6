package throttle

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A flakyStore loses claims: on their way, or their answers.
type flakyStore struct {
	Store
	fate func() fate
}

type fate int

const (
	arrives fate = iota
	lost
	answerLost
)

var errFlaky = errors.New("the connection broke")

func (s *flakyStore) claim(ctx context.Context, c *claim) (answer, error) {
	switch s.fate() {
	case lost:
		return answer{}, errFlaky
	case answerLost:
		_, _ = s.Store.claim(ctx, c)
		return answer{}, errFlaky
	}
	return s.Store.claim(ctx, c)
}

// charged is what an account's records say that the calls of a budget cost.
func charged(m *MemoryStore, account, budget string) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.accounts[account].budgets[budget].counts[0].current
}

func TestAClaimWithoutAnAnswerChargesWhatWasReallySpent(t *testing.T) { // B106
	for _, tt := range []struct {
		name   string
		fate   fate
		outage Outage
		went   int
	}{
		{"lost on its way, denied here", lost, OutageClosed, 0},
		{"lost on its way, sent from here", lost, OutageOpen, 1},
		{"its answer lost, denied here", answerLost, OutageClosed, 0},
		{"its answer lost, sent from here", answerLost, OutageOpen, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := NewMemoryStore()
				var now atomic.Int64
				store := &flakyStore{memory, func() fate { return fate(now.Load()) }}
				th := testThrottle(t, Config{Store: store, Outage: tt.outage, Budgets: testBudget(Tokens(1000, 24*time.Hour))})
				c := testCall
				c.Cost.InputTokens = 100
				acquire := func() (Permit, bool) {
					p, err := th.Acquire(context.Background(), c)
					return p, err == nil
				}
				first, ok := acquire()
				if !ok {
					t.Fatal("the store refused")
				}
				now.Store(int64(tt.fate))
				first.Settle(Cost{InputTokens: 40}) // travels with the claim that fails
				p, ok := acquire()
				if ok != (tt.went == 1) {
					t.Fatalf("the call went: %v", ok)
				}
				now.Store(int64(arrives))
				time.Sleep(time.Minute) // until the store is found again
				synctest.Wait()
				if got, want := charged(memory, "k", "m"), 40+100*float64(tt.went); got != want {
					t.Errorf("%v is charged, want %v", got, want)
				}
				p.Settle(Cost{InputTokens: 25}) // booked by now
				time.Sleep(time.Second)
				synctest.Wait()
				if got, want := charged(memory, "k", "m"), 40+25*float64(tt.went); got != want {
					t.Errorf("%v is charged after the settlement, want %v", got, want)
				}
			})
		})
	}
}

// Whatever is lost, in the end the store has charged exactly what was sent.
func TestLostClaimsAndAnswersNeverChangeTheSum(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			memory := NewMemoryStore()
			var mu sync.Mutex
			calm, luck := false, rand.New(rand.NewPCG(seed, 4))
			store := &flakyStore{memory, func() fate {
				mu.Lock()
				defer mu.Unlock()
				if calm || luck.IntN(3) > 0 {
					return arrives
				}
				return fate(1 + luck.IntN(2))
			}}
			outage := []Outage{OutageLocal, OutageOpen, OutageClosed}[r.IntN(3)]
			th := testThrottle(t, Config{Store: store, Outage: outage, Lanes: noWait, Budgets: testBudget(Tokens(MaxAmount, 24*time.Hour))})
			sum := 0.0
			var open []Permit
			var estimates []float64
			end := func(i int) {
				switch p, estimate := open[i], estimates[i]; r.IntN(3) {
				case 0:
					p.Done()
				case 1:
					p.Cancel()
					sum -= estimate
				default:
					actual := float64(r.IntN(300))
					p.Settle(Cost{InputTokens: int64(actual)})
					sum += actual - estimate
				}
				open, estimates = append(open[:i], open[i+1:]...), append(estimates[:i], estimates[i+1:]...)
			}
			for range 200 {
				c := testCall
				c.Cost.InputTokens = int64(1 + r.IntN(200))
				if p, err := th.Acquire(context.Background(), c); err == nil {
					sum += float64(c.Cost.InputTokens)
					open, estimates = append(open, p), append(estimates, float64(c.Cost.InputTokens))
				}
				if len(open) > 0 && r.IntN(2) == 0 {
					end(r.IntN(len(open)))
				}
				time.Sleep(time.Duration(r.IntN(80)) * time.Millisecond)
			}
			mu.Lock()
			calm = true
			mu.Unlock()
			time.Sleep(time.Minute)
			for len(open) > 0 {
				end(0)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := charged(memory, "k", "m"); got != sum {
				t.Errorf("seed %d: %v is charged, want %v", seed, got, sum)
			}
		})
	}
}

// unlucky loses a sixth of the claims and a sixth of the answers, and has all take up to
// 30 ms; it loses none once calmDown was called.
func unlucky(store Store, seed, stream uint64) (flaky *flakyStore, calmDown func()) {
	var mu sync.Mutex
	calm, luck := false, rand.New(rand.NewPCG(seed, stream))
	flaky = &flakyStore{store, func() fate {
		mu.Lock()
		f, slow := fate(max(0, luck.IntN(6)-3)), time.Duration(luck.IntN(30))*time.Millisecond
		if calm {
			f = arrives
		}
		mu.Unlock()
		time.Sleep(slow)
		return f
	}}
	return flaky, func() {
		mu.Lock()
		defer mu.Unlock()
		calm = true
	}
}

// The same with several callers, claims that take their time, and a Close in
// the midst of it, after which permits still end.
func TestTheSumIsRightThroughConcurrentEndsAndClose(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			memory := NewMemoryStore()
			flaky, calmDown := unlucky(memory, seed, 5)
			var sum atomic.Int64
			th := testThrottle(t, Config{
				Store: &remoteStore{countingStore{Store: flaky}}, Lanes: noWait,
				Outage:  []Outage{OutageLocal, OutageOpen, OutageClosed}[seed%3],
				Budgets: testBudget(Tokens(MaxAmount, 24*time.Hour)),
			})
			var wg sync.WaitGroup
			for i := range uint64(5) {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(seed, 10+i))
					for range 60 {
						c := testCall
						c.Cost.InputTokens = 1 + r.Int64N(100)
						p, err := th.Acquire(context.Background(), c)
						if err != nil {
							time.Sleep(10 * time.Millisecond)
							continue
						}
						actual := r.Int64N(150)
						sum.Add(actual)
						hold := time.Duration(r.IntN(200)) * time.Millisecond
						wg.Go(func() {
							time.Sleep(hold)
							p.Settle(Cost{InputTokens: actual})
						})
					}
				})
			}
			time.Sleep(time.Duration(200+20*seed) * time.Millisecond)
			if seed%2 == 0 {
				calmDown()
				time.Sleep(2 * time.Second) // until the store is found again
				_ = th.Close()
			}
			wg.Wait()
			calmDown()
			time.Sleep(time.Minute)
			synctest.Wait()
			if got := charged(memory, "k", "m"); got != float64(sum.Load()) {
				t.Errorf("seed %d: %v is charged, want %d", seed, got, sum.Load())
			}
		})
	}
}
