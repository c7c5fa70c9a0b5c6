package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/throttle"
	"github.com/redis/go-redis/v9"
)

// A bench is one run: what it is to do, and what it has found.
type bench struct {
	settings
	log io.Writer

	*host  // of the part that is measured
	server *redistest.Server
	stats  *redis.Client // reads the server's own figures

	boards []board
	goals  []goal
	took   time.Duration
}

// measure runs a part with a fresh redis-server.
func (b *bench) measure(p part) (err error) {
	b.host = &host{}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r
		default:
			panic(r)
		}
	}()
	defer b.host.close()
	b.server = redistest.Start(b.host)
	b.stats = b.server.Client(b.host)
	p.run(b)
	return nil
}

// must fails the part for an error.
func (b *bench) must(err error) {
	if err != nil {
		b.Fatal(err)
	}
}

// isQuick reports whether this run is to show that everything works rather
// than how fast.
func (b *bench) isQuick() bool { return b.rounds < 3 }

// client returns a go-redis client as it is by default.
func (b *bench) client(addr string) *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: addr})
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// inRedis gives a configuration a store in the part's server.
func (b *bench) inRedis(c throttle.Config, prefix string) throttle.Config {
	c.Store = b.storeAt(b.server.Addr, prefix)
	return c
}

// storeAt returns a store of its own prefix. It never gives up on a slow
// machine: a call that was decided without Redis would be a figure too good.
func (b *bench) storeAt(addr, prefix string) *throttle.RedisStore {
	s, err := throttle.NewRedisStore(b.client(addr), throttle.RedisOptions{Prefix: prefix, Timeout: 20 * time.Second})
	b.must(err)
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// throttle returns one that is closed with the part. An outage fails the part.
func (b *bench) throttle(c throttle.Config) *throttle.Throttle {
	c.Logger = slog.New(slog.DiscardHandler)
	t, err := throttle.New(c)
	b.must(err)
	b.Cleanup(func() {
		st, err := t.Status(context.Background())
		_ = t.Close()
		if err == nil && st.Outage {
			b.Fatalf("headgate has decided by itself: %v", st.Cause)
		}
	})
	return t
}

// limited is the budget that everything is measured with: a request limit and a
// token limit, under an account limit. Nothing ever reaches them.
func limited(names ...string) throttle.Config {
	c := throttle.Config{Account: []throttle.Limit{throttle.Requests(throttle.MaxAmount, time.Hour)}}
	for _, name := range names {
		c.Budgets = append(c.Budgets, throttle.Budget{
			Models: []string{name},
			Limits: []throttle.Limit{
				throttle.Requests(throttle.MaxAmount, time.Minute),
				throttle.Tokens(throttle.MaxAmount, time.Minute),
			},
		})
	}
	return c
}

// modelNames are n names of models.
func modelNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("model-%d", i)
	}
	return names
}

var key = throttle.FingerprintOf("sk-bench")

// callOf is a call with an estimate; settled is what it really costs, which
// differs, so that every call has something to settle.
func callOf(model string) throttle.Call {
	return throttle.Call{Key: key, Model: model, Cost: throttle.Cost{InputTokens: 100, OutputTokens: 20}}
}

var settled = throttle.Cost{InputTokens: 90, OutputTokens: 10}

// calling is the job of acquiring and settling calls of the models in turn.
func calling(t *throttle.Throttle, models ...string) job {
	ctx := context.Background()
	var calls []throttle.Call
	for _, m := range models {
		calls = append(calls, callOf(m))
	}
	return func(worker int) error {
		p, err := t.Acquire(ctx, calls[worker%len(calls)])
		if err != nil {
			return err
		}
		p.Settle(settled)
		return nil
	}
}
