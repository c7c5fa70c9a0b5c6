// Package trips counts round trips to Redis.
package trips

import (
	"context"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// A Counter is a hook of the Redis client that counts how often the client waits
// for an answer: once per command, and once per pipeline, those included by which
// it opens connections. The zero value has counted nothing. It is safe for
// concurrent use.
type Counter struct{ atomic.Int64 }

var _ redis.Hook = (*Counter)(nil)

// DialHook counts nothing.
func (c *Counter) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook counts a command.
func (c *Counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.Add(1)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook counts a pipeline once, whatever is in it.
func (c *Counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		c.Add(1)
		return next(ctx, cmds)
	}
}
