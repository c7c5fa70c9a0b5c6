package throttle

import (
	"context"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"
)

// How a process shows that it is alive, and after how long it counts as dead.
const (
	beatEvery = 5 * time.Second
	beatKept  = 15 * time.Second
)

// joined starts the message of a process that has just started, before its
// name: the others count again, or an outage in their next seconds would find each of them with the
// parts of a smaller fleet.
const joined = "joined "

// beatScript keeps the set of live processes.
//
//	KEYS[1]  prefix:live, a hash of process -> server time of its last beat, ms
//	ARGV[1]  this process
//	ARGV[2]  how long a process counts as alive, ms
//	Output   {rank of this process among the live ones by name, their number,
//	          1 if this process wasn't among them}
var beatScript = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local new = redis.call('HSET', KEYS[1], ARGV[1], now)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local all, rank, live = redis.call('HGETALL', KEYS[1]), 0, 0
for i = 1, #all, 2 do
  if now - tonumber(all[i + 1]) > tonumber(ARGV[2]) then
    redis.call('HDEL', KEYS[1], all[i])
  else
    live = live + 1
    if all[i] < ARGV[1] then rank = rank + 1 end
  end
end
return {rank, live, new}`)

// connect waits so long for Redis, loads the script and makes sure that the user may
// do all that the store does. It returns the subscription.
func (s *RedisStore) connect(wait time.Duration) (*redis.PubSub, error) {
	ctx, cancel := context.WithTimeout(s.ctx, wait)
	defer cancel()
	steps := []struct {
		right string
		do    func() error
	}{
		{"a connection", func() error { return s.awaitRedis(ctx) }},
		{"the right to SCRIPT LOAD", func() error { return s.script.Load(ctx, s.client).Err() }},
		{"the rights to EVALSHA, TIME, MGET and the keys " + s.keys.prefix + ":*", func() error { return s.try(ctx, "evalsha", s.script.Hash()) }},
		{"the right to EVAL", func() error { return s.try(ctx, "eval", claimSource) }}, // after a SCRIPT FLUSH
		{"the rights to SET and, in a script, to PUBLISH to " + s.keys.events(), func() error {
			_, err := s.claim(ctx, testClaim("start"))
			return err
		}},
		{"the rights to HSET, HGETALL, HDEL and PEXPIRE on " + s.keys.live(), func() error { return s.beatOnce(ctx) }},
		{"the right to PUBLISH to " + s.keys.events(), func() error {
			return s.client.Publish(ctx, s.keys.events(), joined+s.process).Err()
		}},
	}
	refused := func(right string, err error) error {
		return fmt.Errorf("throttle: NewRedisStore: Redis refuses %s, or is out of reach: %w", right, err)
	}
	for _, step := range steps {
		if err := s.within(ctx, func(context.Context) error { return step.do() }); err != nil {
			return nil, refused(step.right, err)
		}
	}
	sub, err := bounded(ctx, s, s.shards.whole, s.subscribe)
	if err != nil {
		return nil, refused("the right to SUBSCRIBE to "+s.keys.events(), err)
	}
	s.listenedNow()
	s.warm(ctx)
	return sub, nil
}

// subscribe returns a subscription that is confirmed. Making one asks nobody how
// long it may take, so one that comes too late is closed.
func (s *RedisStore) subscribe(ctx context.Context) (*redis.PubSub, error) {
	sub := s.client.Subscribe(s.ctx, s.keys.events())
	_, err := sub.ReceiveTimeout(ctx, connectWait)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = sub.Close()
		return nil, err
	}
	return sub, nil
}

// within runs f no longer than ctx.
func (s *RedisStore) within(ctx context.Context, f func(context.Context) error) error {
	_, err := bounded(ctx, s, s.shards.whole, func(ctx context.Context) (any, error) { return nil, f(ctx) })
	return err
}

// try runs the script in one of its two ways, for nothing.
func (s *RedisStore) try(ctx context.Context, command, script string) error {
	c := claim{account: "start", budget: "start", dry: true}
	var p packer
	p.claim(&c)
	_, err := s.eval(ctx, command, script, s.keys.of(&c), []any{string(p.buf), s.keys.events()})
	return err
}

// warmConnections is how many connections are opened at start: a first burst of
// calls would find its time gone in dialling.
const warmConnections = 8

// warm opens connections. One that fails now will be noticed when it is needed.
func (s *RedisStore) warm(ctx context.Context) {
	var g errgroup.Group
	for range warmConnections {
		g.Go(func() error {
			return s.within(ctx, func(ctx context.Context) error { return s.client.Ping(ctx).Err() })
		})
	}
	_ = g.Wait()
}

// awaitRedis returns once Redis answers, which it may not do yet where it is
// started together with its users. A refused login doesn't get better.
func (s *RedisStore) awaitRedis(ctx context.Context) error {
	return backoff.Retry(func() error {
		err := s.client.Ping(ctx).Err()
		for _, refused := range []string{"NOAUTH", "WRONGPASS", "NOPERM", "ERR AUTH"} {
			if redis.HasErrorPrefix(err, refused) {
				return backoff.Permanent(err)
			}
		}
		return err
	}, backoff.WithContext(backoff.NewConstantBackOff(50*time.Millisecond), ctx))
}

// beat shows that this process is alive until the store is closed.
func (s *RedisStore) beat() {
	defer s.loops.Done()
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		case <-s.joined:
		}
		s.recount()
	}
}

// recount beats and takes over the new count. While the store is away the last
// one stands.
func (s *RedisStore) recount() {
	ctx, cancel := context.WithTimeout(s.ctx, beatEvery)
	defer cancel()
	_, _ = bounded(ctx, s, s.shards.of(s.keys.live()), func(ctx context.Context) (any, error) { return nil, s.beatOnce(ctx) })
}

func (s *RedisStore) beatOnce(ctx context.Context) error {
	counts, err := beatScript.Run(ctx, s.client, []string{s.keys.live()}, s.process, beatKept.Milliseconds()).Int64Slice()
	if err != nil {
		return err
	}
	if len(counts) != 3 {
		return errWire
	}
	s.mu.Lock()
	again := s.counted
	s.rank, s.live, s.counted = int(counts[0]), max(1, int(counts[1])), true
	s.mu.Unlock()
	if again && counts[2] == 1 {
		// It has forgotten us, and so perhaps everything.
		s.pass(notice{kind: noticeHears})
	}
	return nil
}

// fleet returns the last count.
func (s *RedisStore) fleet() (rank, live int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rank, s.live
}
