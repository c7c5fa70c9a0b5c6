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

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
)

func TestProcessesKilledWithALeaseCostTheFleetTheirChunksForAWindow(t *testing.T) { // B111
	for _, tt := range []struct {
		algorithm Algorithm
		back      time.Duration // until everything is forgotten
	}{{SlidingWindow, 2 * time.Minute}, {FixedWindow, time.Minute}, {SlidingLog, 61 * time.Second}, {TokenBucket, time.Minute}} {
		t.Run(tt.algorithm.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := NewMemoryStore()
				c := Config{Lease: chunkOfTen, Outage: OutageClosed, Budgets: testBudget(Requests(60, time.Minute).Using(tt.algorithm))}
				for range 20 {
					killed := newLeaser(t, memory, c)
					if p, _, err := killed.try("live", 0); err == nil {
						p.Done()
					}
					killed.store.set(true, 0)
				}
				survivor := newLeaser(t, memory, c)
				time.Sleep(tt.back)
				went := 0
				for range 200 {
					if p, _, err := survivor.try("live", 0); err == nil {
						p.Done()
						went++
					}
				}
				if went != 60 {
					t.Errorf("%d calls of 60 go %v after twenty processes were killed", went, tt.back)
				}
			})
		})
	}
}

// Whatever is lost on its way, and however chunks end, the store has charged in
// the end what was sent.
func TestLeasesNeverChangeTheSum(t *testing.T) { // B106, B114
	for seed := range uint64(80) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 6))
			memory := NewMemoryStore()
			var mu sync.Mutex
			calm, luck := seed%4 == 0, rand.New(rand.NewPCG(seed, 7))
			flaky := &flakyStore{memory, func() fate {
				mu.Lock()
				defer mu.Unlock()
				if calm || luck.IntN(4) > 0 {
					return arrives
				}
				return fate(1 + luck.IntN(2))
			}}
			ls := append([]lanes.Lane{{Name: "waits", Share: 1, Wait: time.Second}}, noWait...)
			th := testThrottle(t, Config{
				Store: &remoteStore{countingStore{Store: flaky}}, Lanes: ls,
				Outage:  []Outage{OutageLocal, OutageOpen, OutageClosed}[r.IntN(3)],
				Lease:   leasing.Policy{Chunk: 1 + r.Int64N(20), MaxAge: time.Duration(1+r.IntN(2000)) * time.Millisecond},
				Budgets: testBudget(Tokens(MaxAmount, 24*time.Hour)),
			})
			var sum atomic.Int64
			var wg sync.WaitGroup
			for range 300 {
				c := testCall
				c.Lane.Name = ls[r.IntN(3)].Name
				c.Cost.InputTokens = 1 + r.Int64N(100)
				end, actual, hold := r.IntN(3), r.Int64N(300), time.Duration(r.IntN(1500))*time.Millisecond
				wg.Go(func() {
					p, err := th.Acquire(context.Background(), c)
					if err != nil {
						return
					}
					time.Sleep(hold)
					switch end {
					case 0:
						p.Cancel()
					case 1:
						p.Done()
						sum.Add(c.Cost.InputTokens)
					default:
						p.Settle(Cost{InputTokens: actual})
						sum.Add(actual)
					}
				})
				time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
			}
			wg.Wait()
			mu.Lock()
			calm = true
			mu.Unlock()
			time.Sleep(time.Minute)
			if seed%2 == 0 {
				_ = th.Close()
			}
			synctest.Wait()
			if got := charged(memory, "k", "m"); got != float64(sum.Load()) {
				t.Errorf("seed %d: %v is charged, want %d", seed, got, sum.Load())
			}
		})
	}
}

func TestANearAndADistantInstanceShareWithinTwoToOne(t *testing.T) { // B144
	for _, policy := range []leasing.Policy{chunkOfTen, leasing.Auto()} {
		synctest.Test(t, func(t *testing.T) {
			memory := NewMemoryStore()
			var went [2]atomic.Int64
			ctx, stop := context.WithCancel(context.Background())
			var wg sync.WaitGroup
			for i, delay := range []time.Duration{200 * time.Microsecond, 20 * time.Millisecond} {
				l := newLeaser(t, memory, Config{
					Lease: policy, Instances: 2, Lanes: []lanes.Lane{{Name: "live", Share: 1, Wait: -1}},
					Budgets: testBudget(Requests(6000, time.Minute).Using(TokenBucket).WithBurst(100)),
				})
				l.store.set(false, delay)
				for range 20 {
					wg.Go(func() {
						for {
							p, err := l.Acquire(ctx, testCall)
							if err != nil {
								return
							}
							went[i].Add(1)
							time.Sleep(10 * time.Millisecond)
							p.Done()
						}
					})
				}
			}
			time.Sleep(time.Minute)
			stop()
			wg.Wait()
			near, distant := went[0].Load(), went[1].Load()
			if near > 2*distant || distant > 2*near || near+distant < 5700 {
				t.Errorf("%+v: %d calls went near by and %d at a distance, of 6100", policy, near, distant)
			}
		})
	}
}

func TestBackgroundLeasesLeaveLiveCallsTheirPart(t *testing.T) { // B145
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryStore()
		c := Config{
			Lease: leasing.Policy{Chunk: 20, MaxAge: 30 * time.Second}, Lanes: []lanes.Lane{{Name: "live", Share: 1, Wait: -1}, {Name: "background", Share: 0.6}},
			Budgets: testBudget(Requests(100, 100*time.Second).Using(TokenBucket)),
		}
		var fleet []leaser
		for range 5 {
			fleet = append(fleet, newLeaser(t, memory, c))
		}
		grab := func() {
			for _, l := range fleet[:4] {
				for range 2 {
					if p, _, err := l.try("background", 0); err == nil {
						p.Done()
					}
				}
			}
		}
		for range 10 {
			grab()
		}
		memory.mu.Lock()
		b := memory.accounts["k"].budgets["m"].counts[0].bucket
		used := 100 - bucketHas(&b, memory.now(), 100e6)
		memory.mu.Unlock()
		if used > 60 {
			t.Errorf("background has taken %v of 100", used)
		}
		live := fleet[4]
		for range 40 {
			live.mustGo(t, "live", 0)
		}
		time.Sleep(40 * time.Second) // leases have ended; 40 have come
		for range 20 {
			grab()
		}
		ctx, cancel := context.WithCancel(context.Background())
		went := 0
		go func() {
			for {
				p, err := live.Acquire(ctx, Call{Key: "k", Model: "m"})
				if err != nil {
					return
				}
				p.Done()
				went++
			}
		}()
		synctest.Wait()
		before := went
		for range 1000 { // background keeps trying all the while
			grab()
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		if went-before != 10 {
			t.Errorf("%d live calls went in the time of ten", went-before)
		}
		cancel()
		synctest.Wait()
	})
}

func TestALostLeaseComesBackWithTheFix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryStore()
		var now atomic.Int64
		flaky := &flakyStore{memory, func() fate { return fate(now.Load()) }}
		th := testThrottle(t, Config{Store: &remoteStore{countingStore{Store: flaky}}, Lanes: noWait, Outage: OutageClosed, Lease: chunkOfTen, Budgets: testBudget(Tokens(1000, 24*time.Hour))})
		c := testCall
		c.Cost.InputTokens = 10
		first, err := th.Acquire(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		first.Done()
		time.Sleep(5 * time.Second) // its lease is back
		now.Store(int64(answerLost))
		if _, err := th.Acquire(context.Background(), c); !errors.Is(err, ErrStore) {
			t.Fatalf("without an answer: %v", err)
		}
		if got := charged(memory, "k", "m"); got != 120 {
			t.Fatalf("%v are charged by the claim whose answer was lost", got)
		}
		now.Store(int64(arrives))
		time.Sleep(time.Minute)
		if got := charged(memory, "k", "m"); got != 10 {
			t.Errorf("%v are charged in the end", got)
		}
	})
}
