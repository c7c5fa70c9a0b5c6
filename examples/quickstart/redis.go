package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

// A tripCounter is a hook of the Redis client that counts how often the client
// waits for an answer: once per command, and once per pipeline.
type tripCounter struct{ n atomic.Int64 }

func (t *tripCounter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (t *tripCounter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		t.n.Add(1)
		return next(ctx, cmd)
	}
}

func (t *tripCounter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		t.n.Add(1)
		return next(ctx, cmds)
	}
}

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
