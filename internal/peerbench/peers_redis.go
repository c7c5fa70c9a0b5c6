package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/throttled/throttled/v2"
	throttledredis "github.com/throttled/throttled/v2/store/goredisstore.v9"
	"github.com/ulule/limiter/v3"
	limiterredis "github.com/ulule/limiter/v3/drivers/store/redis"
)

// plenty is a rate per second that no peer ever reaches.
const plenty = 1 << 30

var errRefused = errors.New("refused beside room")

// redisRate is github.com/go-redis/redis_rate.
func (b *bench) redisRate(addr string) contestant {
	l := redis_rate.NewLimiter(b.client(addr))
	limit := redis_rate.Limit{Rate: plenty, Burst: plenty, Period: time.Second}
	return contestant{"redis_rate", func(int) error {
		r, err := l.Allow(context.Background(), "k", limit)
		if err == nil && r.Allowed == 0 {
			err = errRefused
		}
		return err
	}}
}

// ulule is github.com/ulule/limiter over Redis.
func (b *bench) ulule(addr string) contestant {
	s, err := limiterredis.NewStore(b.client(addr))
	b.must(err)
	l := limiter.New(s, limiter.Rate{Period: time.Minute, Limit: plenty})
	return contestant{"ulule/limiter", func(int) error {
		c, err := l.Get(context.Background(), "k")
		if err == nil && c.Reached {
			err = errRefused
		}
		return err
	}}
}

// throttled is github.com/throttled/throttled over Redis. With many callers its
// compare-and-swap gives up; that isn't counted against it, but tried again.
func (b *bench) throttled(addr string) contestant {
	s, err := throttledredis.NewCtx(b.client(addr), "throttled:")
	b.must(err)
	l, err := throttled.NewGCRARateLimiterCtx(s, throttled.RateQuota{MaxRate: throttled.PerSec(1e9), MaxBurst: plenty})
	b.must(err)
	l.SetMaxCASAttemptsLimit(10_000)
	return contestant{"throttled", func(int) error {
		limited, _, err := l.RateLimitCtx(context.Background(), "k", 1)
		if err == nil && limited {
			err = errRefused
		}
		return err
	}}
}

// twoCounters is the least that a limit on requests and one on tokens have to do.
const twoCounters = `return {redis.call('INCR', KEYS[1]), redis.call('INCRBY', KEYS[2], ARGV[1])}`

// evalsha is the floor: go-redis and a script that raises two counters.
func (b *bench) evalsha(addr string) contestant {
	c := b.client(addr)
	script := redis.NewScript(twoCounters)
	b.must(script.Load(context.Background(), c).Err())
	keys := []string{"{evalsha}a", "{evalsha}b"}
	return contestant{"go-redis EVALSHA", func(int) error {
		return script.EvalSha(context.Background(), c, keys, 100).Err()
	}}
}

// rueidisClient returns a client as it is by default, which pipelines what
// concurrent callers ask.
func (b *bench) rueidisClient(addr string) rueidis.Client {
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	b.must(err)
	b.Cleanup(c.Close)
	return c
}

// rueidisEvalsha is the same script, pipelined.
func (b *bench) rueidisEvalsha(addr string) contestant {
	c := b.rueidisClient(addr)
	script := rueidis.NewLuaScript(twoCounters)
	return contestant{"rueidis EVALSHA", func(int) error {
		return script.Exec(context.Background(), c, []string{"{rueidis}a", "{rueidis}b"}, []string{"100"}).Error()
	}}
}

// One window after the other, each beginning with its first call: what
// rueidislimiter does in a script, with a counter and the end of its window.
const windowAfterWindow = `
local ends = tonumber(redis.call('GET', KEYS[2]) or '0')
if ends < tonumber(ARGV[2]) then
  ends = tonumber(ARGV[3])
  redis.call('SET', KEYS[1], 0, 'PXAT', ends + 1000)
  redis.call('SET', KEYS[2], ends, 'PXAT', ends + 1000)
end
return {redis.call('INCRBY', KEYS[1], ARGV[1]), ends}`

// rueidisLimiter stands in for github.com/redis/rueidis/rueidislimiter, which
// has no release that the module proxy would serve: rueidis with a script that
// does the same amount of work.
func (b *bench) rueidisLimiter(addr string) contestant {
	c := b.rueidisClient(addr)
	script := rueidis.NewLuaScript(windowAfterWindow)
	return contestant{"rueidis limiter", func(int) error {
		now := time.Now()
		args := []string{"1", strconv.FormatInt(now.UnixMilli(), 10), strconv.FormatInt(now.Add(time.Minute).UnixMilli(), 10)}
		rs, err := script.Exec(context.Background(), c, []string{"rl:{k}", "rl:{k}:ex"}, args).AsIntSlice()
		if err == nil && (len(rs) != 2 || rs[0] > plenty) {
			err = fmt.Errorf("%w: %v", errRefused, rs)
		}
		return err
	}}
}
