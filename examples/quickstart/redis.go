package main

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// eachKey calls do for every key of this run.
func (s *stage) eachKey(ctx context.Context, do func(c *redis.Client, key string) error) error {
	c := redis.NewClient(&redis.Options{Addr: s.redis})
	defer c.Close()
	keys := c.Scan(ctx, 0, s.prefix+"*", 100).Iterator()
	for keys.Next(ctx) {
		if err := do(c, keys.Val()); err != nil {
			return err
		}
	}
	return keys.Err()
}

func (s *stage) keysWithoutExpiry(ctx context.Context) (n int, err error) {
	err = s.eachKey(ctx, func(c *redis.Client, key string) error {
		left, err := c.PTTL(ctx, key).Result()
		if left == -1 { // how the client tells "never"
			n++
		}
		return err
	})
	return n, err
}

// tidy removes the run's keys. They would expire by themselves, but not before
// somebody looks and wonders.
func (s *stage) tidy() {
	if s.redis == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.eachKey(ctx, func(c *redis.Client, key string) error { return c.Unlink(ctx, key).Err() })
}
