package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-go/headgate/throttle"
)

// Leftovers are what a run left in Redis that it shouldn't have.
type leftovers struct {
	Slots    int // calls in flight, with nobody there any more
	Forever  int // keys without an expiry
	Outlived int // keys that are there after their expiry
	Looked   int // keys that there were
}

// How long killed processes' slots may stay, and how long of an expiry is
// waited for. A refused key is remembered for a week.
const (
	slotLife  = 32 * time.Second
	keyWait   = 45 * time.Second
	keyMargin = time.Second
)

// lookAround finds what the run has left, once its workers are gone. It takes
// as long as what is left may stay.
func (r *run) lookAround(ctx context.Context) error {
	c := r.store.client()
	defer c.Close()
	l := &r.history.Leftovers
	all, err := r.expiries(ctx, c) // before the looking itself takes time
	if err != nil {
		return fmt.Errorf("%s: keys in Redis: %w", r.Name, err)
	}
	l.Looked = len(all)
	if r.Slots {
		if l.Slots, err = r.slots(ctx, c, time.Now().Add(slotLife)); err != nil {
			return fmt.Errorf("%s: slots in Redis: %w", r.Name, err)
		}
	}
	if err := r.lookAtKeys(ctx, c); err != nil {
		return fmt.Errorf("%s: keys in Redis: %w", r.Name, err)
	}
	return nil
}

// lookAtKeys waits for keys to expire that do so soon, and counts those that
// don't, or never will.
func (r *run) lookAtKeys(ctx context.Context, c *redis.Client) error {
	l := &r.history.Leftovers
	expiries, err := r.expiries(ctx, c)
	if err != nil {
		return err
	}
	l.Looked = max(l.Looked, len(expiries))
	var doomed []string
	last := time.Duration(0)
	for key, left := range expiries {
		switch {
		case left < 0:
			l.Forever++
		case left <= cmp.Or(r.Linger, keyWait):
			doomed = append(doomed, key)
			last = max(last, left)
		}
	}
	if !sleepUntil(ctx, time.Now().Add(last+keyMargin)) {
		return ctx.Err()
	}
	for _, key := range doomed {
		n, err := c.Exists(ctx, key).Result()
		if err != nil {
			return err
		}
		l.Outlived += int(n)
	}
	return nil
}

// expiries are the run's keys and how long each is kept; -1: for ever.
func (r *run) expiries(ctx context.Context, c *redis.Client) (map[string]time.Duration, error) {
	found := map[string]time.Duration{}
	keys := c.Scan(ctx, 0, r.prefix+"*", 100).Iterator()
	for keys.Next(ctx) {
		left, err := c.PTTL(ctx, keys.Val()).Result()
		if err != nil {
			return nil, err
		}
		if left != -2 { // how the client tells that it is gone
			found[keys.Val()] = left
		}
	}
	return found, keys.Err()
}

// slots is how many calls the fleet's store takes to be in flight, at the end of
// the time in which that may become none.
func (r *run) slots(ctx context.Context, c *redis.Client, until time.Time) (int, error) {
	s, err := throttle.NewRedisStore(c, throttle.RedisOptions{Prefix: r.prefix, Timeout: time.Second})
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.Name, err)
	}
	defer s.Close()
	th, err := throttle.New(config(r.plan, r.limits, s))
	if err != nil {
		return 0, err
	}
	defer th.Close()
	// A call that is asked about makes the budget known here.
	_ = th.Check(ctx, throttle.Call{Key: throttle.FingerprintOf(r.key), Model: model})
	for {
		status, err := th.Status(ctx)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", r.Name, err)
		}
		n := inFlight(status)
		if n == 0 || time.Now().After(until) {
			return n, nil
		}
		if !sleepUntil(ctx, time.Now().Add(time.Second)) {
			return n, ctx.Err()
		}
	}
}

// inFlight is how many calls a status shows in flight; -1: it shows no such
// limit, so that nothing is known.
func inFlight(s throttle.Status) int {
	for _, b := range s.Budgets {
		for _, l := range b.Limits {
			if l.Unit == throttle.UnitInFlight {
				return int(l.Used)
			}
		}
	}
	return -1
}
