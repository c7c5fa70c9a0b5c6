package throttle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/semaphore"
)

// DefaultTimeout is RedisOptions.Timeout where that is 0.
const DefaultTimeout = 50 * time.Millisecond

// connectWait is how long NewRedisStore waits for Redis.
const connectWait = 5 * time.Second

// RedisOptions are the settings of a RedisStore. The zero value is usable.
type RedisOptions struct {
	// Prefix starts every key and the channel. "": "headgate". No braces.
	Prefix string
	// Timeout bounds what the store may cost a call, whatever the client's own
	// timeouts are. 0: DefaultTimeout. A round trip to Redis should take less
	// than half of it: a call that comes while a claim is under way waits for
	// that one and its own.
	Timeout time.Duration
	// StartWithout makes a Redis that can't be reached or used at start an outage
	// instead of an error: one that begins with New, and is logged and told like
	// any other.
	StartWithout bool
}

// A RedisStore is a Store in Redis 6.2 or newer, or Valkey, single or clustered,
// that every process with the same Prefix shares. It is safe for concurrent
// use.
//
// Each decision is one script and one round trip, on the server's clock. A
// claim charges once, however often it arrives. Every key expires.
type RedisStore struct {
	client  redis.UniversalClient
	keys    keyspace
	timeout time.Duration
	script  *redis.Script

	process  string                    // this process, in the set of the live ones
	listened atomic.Pointer[time.Time] // when the subscription last said anything; nil: it is dead
	underWay *semaphore.Weighted
	shards   shards
	missing  error // what was missing at start

	ctx   context.Context
	close context.CancelFunc
	loops sync.WaitGroup

	joined chan struct{} // another process has started

	mu         sync.Mutex
	watchers   map[int]func(notice)
	nextID     int
	rank, live int
	members    []Member // that a look found
	counted    bool     // this process has shown itself
}

// NewRedisStore returns a store on client, which it never closes. It waits up
// to 5 s for Redis, and makes sure that the user may do what the store does;
// an error names what is missing. With RedisOptions.StartWithout it returns a
// store in any case, and every throttle on it begins with an outage.
func NewRedisStore(client redis.UniversalClient, o RedisOptions) (*RedisStore, error) {
	return newRedisStore(client, o, connectWait)
}

func newRedisStore(client redis.UniversalClient, o RedisOptions, wait time.Duration) (*RedisStore, error) {
	if v := reflect.ValueOf(client); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("throttle: NewRedisStore: the client is nil")
	}
	keys, err := newKeyspace(o.Prefix)
	if err != nil {
		return nil, err
	}
	if o.Timeout < 0 {
		return nil, fmt.Errorf("throttle: RedisOptions.Timeout is %v, want 0 or more", o.Timeout)
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	s := &RedisStore{
		client: client, keys: keys, timeout: o.Timeout,
		script:   redis.NewScript(claimSource),
		process:  uuid.NewString(),
		underWay: semaphore.NewWeighted(maxUnderWay),
		shards:   newShards(client),
		watchers: map[int]func(notice){},
		joined:   make(chan struct{}, 1),
		live:     1,
	}
	s.ctx, s.close = context.WithCancel(context.Background())
	sub, err := s.connect(wait)
	if err != nil && !o.StartWithout {
		s.close()
		return nil, err
	}
	s.missing = err
	s.loops.Add(2)
	go s.listen(sub)
	go s.beat()
	return s, nil
}

// Close ends the store's own goroutines. It never closes the client. A
// throttle that still uses the store goes on deciding by it, without being
// told what others learn. Closing twice does nothing. A connection that hangs
// isn't waited for: its goroutine ends when the client gives it up.
func (s *RedisStore) Close() error {
	s.close()
	ended := make(chan struct{})
	go func() {
		s.loops.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(s.timeout):
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	_, _ = bounded(ctx, s, s.shards.of(s.keys.live()), func(ctx context.Context) (any, error) {
		return nil, s.client.HDel(ctx, s.keys.live(), s.process).Err()
	})
	return nil
}

func (s *RedisStore) immediate() bool { return false }

func (s *RedisStore) trouble() error { return s.missing }

func (s *RedisStore) shard(account string) string {
	return s.shards.of(s.keys.account(account)).name
}

func (s *RedisStore) claim(ctx context.Context, c *claim) (answer, error) {
	var p packer
	p.claim(c)
	ctx, cancel := context.WithTimeout(ctx, s.allowance(c))
	defer cancel()
	keys, args := s.keys.of(c), []any{p.buf, s.keys.events()}
	var plain packer
	if plain.plain(c) {
		args = append(args, plain.buf)
	}
	at := s.shards.of(keys[0])
	reply, err := bounded(ctx, s, at, func(ctx context.Context) (string, error) {
		reply, err := s.run(ctx, at, keys, args...)
		for again := 0; again < maxAgain && c.number > 0 && broken(err) && ctx.Err() == nil; again++ {
			// Whether the claim was applied or not, it charges once.
			reply, err = s.run(ctx, at, keys, args...)
		}
		return reply, err
	})
	if redis.HasErrorPrefix(err, "FORGOT") {
		return answer{}, errForgot
	}
	if err != nil {
		s.shards.moved(err)
		return answer{}, err
	}
	u := unpacker{buf: []byte(reply)}
	return u.answer(c)
}

// maxAgain is how often a claim is sent again over a new connection.
const maxAgain = 3

// broken reports whether the connection broke before an answer came. A command
// that was only given up may still be applied later, and is not sent again.
func broken(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op) && !op.Timeout()
}

// allowance is how long a claim may take. The timeout counts from a call's
// arrival, so those who came while another claim was under way have less of it
// left; a fifth stays in any case, or one slow answer would fail the next.
func (s *RedisStore) allowance(c *claim) time.Duration {
	if c.arrived.IsZero() {
		return s.timeout
	}
	return min(s.timeout, max(s.timeout/5, s.timeout-time.Since(c.arrived)))
}

// A once is a command that the client must not send again by itself: after a
// broken connection nobody knows whether the script was applied.
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

// askAgain is how soon a claim is sent again whose records are on their way to
// another node of a cluster.
const askAgain = 5 * time.Millisecond

// run runs the script, and again while the slot of its records is on its way to
// another node with some of them there and some not: then it was certainly not
// applied, and that says nothing about other accounts.
func (s *RedisStore) run(ctx context.Context, at *shard, keys []string, args ...any) (reply string, err error) {
	err = backoff.Retry(func() error {
		reply, err = s.runOnce(ctx, keys, args)
		if !redis.HasErrorPrefix(err, "TRYAGAIN") {
			return backoff.Permanent(err)
		}
		at.heardNow() // it isn't silent
		return err
	}, backoff.WithContext(backoff.NewConstantBackOff(askAgain), ctx))
	return reply, err
}

// runOnce runs the script by its hash, and by its text where the server doesn't
// know it: then it was certainly not applied, either.
func (s *RedisStore) runOnce(ctx context.Context, keys []string, args []any) (string, error) {
	reply, err := s.eval(ctx, "evalsha", s.script.Hash(), keys, args)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		reply, err = s.eval(ctx, "eval", claimSource, keys, args)
	}
	return reply, err
}

func (s *RedisStore) eval(ctx context.Context, name, script string, keys []string, args []any) (string, error) {
	all := make([]any, 0, 3+len(keys)+len(args))
	all = append(all, name, script, len(keys))
	for _, k := range keys {
		all = append(all, k)
	}
	cmd := once{redis.NewCmd(ctx, append(all, args...)...)}
	// The third argument is the first key; a cluster client routes by it.
	cmd.SetFirstKeyPos(3)
	if err := s.client.Process(ctx, cmd); err != nil {
		return "", err
	}
	return cmd.Text()
}

func (s *RedisStore) watch(f func(notice)) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.nextID
	s.nextID++
	s.watchers[id] = f
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, id)
	}
}
