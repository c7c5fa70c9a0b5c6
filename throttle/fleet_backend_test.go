package throttle

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// A fleetBackend is the store that the processes of a fleet share. Its claims
// are made one after another.
type fleetBackend interface {
	Store
	now() float64
	// decide applies a claim. It returns the store's time then, where there is
	// an answer, and what tells everybody of it.
	decided(c *claim) (ans answer, now float64, tell func(), err error)
	// lose forgets a budget's record, an account's, or a key's; "" is none.
	lose(account, budget string, whole bool, key Fingerprint)
}

// fleetMemory is a store in memory, in a bubble.
type fleetMemory struct{ *MemoryStore }

func (m fleetMemory) decided(c *claim) (answer, float64, func(), error) {
	now := m.now()
	ans, notices, watchers, err := m.decide(c, now)
	return ans, now, func() {
		for _, n := range notices {
			for _, w := range watchers {
				w(n)
			}
		}
	}, err
}

func (m fleetMemory) lose(account, budget string, whole bool, key Fingerprint) {
	m.mu.Lock()
	defer m.mu.Unlock()
	acct := m.accounts[account]
	if acct == nil {
		return
	}
	delete(acct.budgets, budget)
	delete(acct.keys, key)
	if whole {
		acct.whole = memoryRecord{}
	}
}

// fleetRedis is a store in Redis, in real time.
type fleetRedis struct {
	*RedisStore
	last *float64 // the time of the last answer
}

func (r fleetRedis) now() float64 { return float64(time.Now().UnixMicro()) }

func (r fleetRedis) decided(c *claim) (answer, float64, func(), error) {
	ans, err := r.RedisStore.claim(context.Background(), c)
	for _, known := range []error{errStale, errLost} {
		if err != nil && "headgate: "+err.Error() == known.Error() {
			err = known
		}
	}
	if err == nil && !r.old(ans.now) {
		*r.last = ans.now
	}
	return ans, *r.last, func() {}, err
}

// old reports whether an answer is one that was given before.
func (r fleetRedis) old(now float64) bool { return now < *r.last }

func (r fleetRedis) lose(account, budget string, whole bool, key Fingerprint) {
	var keys []string
	if budget != "" {
		keys = append(keys, r.keys.budget(account, budget))
	}
	if whole {
		keys = append(keys, r.keys.account(account))
	}
	if key != "" {
		keys = append(keys, r.keys.key(account, key))
	}
	if err := r.client.Del(context.Background(), keys...).Err(); err != nil && !errors.Is(err, redis.Nil) {
		panic(err)
	}
}
