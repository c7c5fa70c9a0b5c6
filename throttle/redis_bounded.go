package throttle

import (
	"context"
	"fmt"
	"time"
)

// maxUnderWay bounds the commands that the client has at a time, and so those
// that were given up and still hang in it. Of a cluster, no server may have more
// than half of them.
const maxUnderWay = 64

// bounded runs f, which asks a server, and waits for it no longer than ctx,
// whatever the client does with its own timeouts. A command that was given up
// goes on until the client lets it go, and keeps its place among those that may
// be under way.
func bounded[T any](ctx context.Context, s *RedisStore, at *shard, f func(context.Context) (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	leave, err := s.enter(ctx, at)
	if err != nil {
		var zero T
		return zero, s.late(at, fmt.Errorf("too many commands are under way: %w", err))
	}
	done := make(chan result, 1)
	go func() {
		defer leave()
		v, err := f(ctx)
		if err == nil {
			at.heardNow() // too late for its own claim, perhaps
			s.shards.answered()
		}
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		var zero T
		return zero, s.late(at, ctx.Err())
	}
}

// enter waits for a place among the commands that may be under way.
func (s *RedisStore) enter(ctx context.Context, at *shard) (leave func(), err error) {
	if err := at.underWay.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if err := s.underWay.Acquire(ctx, 1); err != nil {
		at.underWay.Release(1)
		return nil, err
	}
	return func() {
		s.underWay.Release(1)
		at.underWay.Release(1)
	}, nil
}

// late is the error of a command that wasn't answered in time. The server is
// silent if it hasn't answered anything else for as long as one may take,
// either.
func (s *RedisStore) late(at *shard, err error) error {
	return &lateError{silent: time.Since(at.lastHeard()) >= s.timeout, err: err}
}
