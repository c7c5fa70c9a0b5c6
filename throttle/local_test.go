package throttle

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A memberStore is a process's way to a store that several share. While it is
// away nobody reaches it.
type memberStore struct {
	Store
	rank, live int
	away       *atomic.Bool
}

func (s *memberStore) immediate() bool           { return false }
func (s *memberStore) fleet() (rank, live int)   { return s.rank, s.live }
func (s *memberStore) watch(func(notice)) func() { return func() {} }

func (s *memberStore) claim(ctx context.Context, c *claim) (answer, error) {
	if s.away.Load() {
		return answer{}, errFlaky
	}
	return s.Store.claim(ctx, c)
}

func memberFleet(t *testing.T, live int, c Config) (fleet []*Throttle, away *atomic.Bool) {
	away = new(atomic.Bool)
	memory := NewMemoryStore()
	for rank := range live {
		c.Store = &memberStore{memory, rank, live, away}
		fleet = append(fleet, testThrottle(t, c))
	}
	return fleet, away
}

// One process has spent nearly everything. The others have heard so, and don't
// take it that their parts are untouched.
func TestLocalPartsAreOfTheRoomThatTheStoreShowed(t *testing.T) { // rule 9
	for _, algorithm := range []Algorithm{SlidingWindow, FixedWindow, SlidingLog, TokenBucket, GCRA} {
		for _, live := range []int{2, 4, 8} {
			t.Run(fmt.Sprint(algorithm, " of ", live), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const amount, spent = 1000, 900
					fleet, away := memberFleet(t, live, Config{Lanes: noWait, Budgets: testBudget(Requests(amount, 24*time.Hour).Using(algorithm))})
					went, _ := admitted(fleet[0], spent, noWait[0])
					for _, th := range fleet {
						n, _ := admitted(th, 1, noWait[0])
						went += n
					}
					away.Store(true)
					for _, th := range fleet {
						n, _ := admitted(th, amount, noWait[0])
						went += n
					}
					if went > amount {
						t.Errorf("%d calls of %d went, %d of them in the outage", went, amount, went-spent-live)
					}
					// Who has spent more than its part has nothing left of it.
					if left := amount - spent - live; went < amount-left*2/3 {
						t.Errorf("%d calls of %d went: hardly any of the room that was left was used", went, amount)
					}
				})
			})
		}
	}
}
