package throttle

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Two processes want the same, and one of them is a hundred times as far from
// the store as the other.
func TestADistantProcessGetsItsShare(t *testing.T) { // B144
	for _, limit := range []Limit{
		Requests(100, time.Second), Requests(100, time.Second).Using(TokenBucket).WithBurst(1),
		Requests(100, time.Second).Using(TokenBucket), Requests(10, time.Second).Using(GCRA).WithBurst(1),
	} {
		t.Run(fmt.Sprintf("%s %v burst %d", limit, limit.Algorithm, limit.Burst), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				shared := NewMemoryStore()
				ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
				defer cancel()
				var wg sync.WaitGroup
				var went [2]atomic.Int64
				for i, away := range []time.Duration{100 * time.Microsecond, 10 * time.Millisecond} {
					store := &farStore{Store: shared, away: away}
					th := testThrottle(t, Config{Store: store, Budgets: testBudget(limit)})
					for range 20 {
						wg.Go(func() {
							for ctx.Err() == nil {
								p, err := th.Acquire(ctx, testCall)
								if err != nil { // its turn is after the end, which is said without a round trip
									time.Sleep(time.Millisecond)
									continue
								}
								went[i].Add(1)
								time.Sleep(20 * time.Millisecond)
								p.Done()
							}
						})
					}
				}
				wg.Wait()
				if near, far := went[0].Load(), went[1].Load(); far*2 < near {
					t.Errorf("the near one got %d and the far one %d", near, far)
				}
			})
		})
	}
}

// A farStore is some way off: each way takes the same time.
type farStore struct {
	Store
	away time.Duration
}

func (s *farStore) immediate() bool { return false }

func (s *farStore) claim(ctx context.Context, c *claim) (answer, error) {
	time.Sleep(s.away)
	a, err := s.Store.claim(ctx, c)
	time.Sleep(s.away)
	return a, err
}
