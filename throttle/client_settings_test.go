package throttle

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/faultproxy"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/redis/go-redis/v9"
)

// What a call may wait for Redis is RedisOptions.Timeout, whatever the client
// would wait by its own settings.

// muchLonger is what no call may take here, and each of the clients would.
const muchLonger = 5 * time.Second

// A wayToRedis is a proxy and a dialer behind which a client can be left
// hanging.
type wayToRedis struct {
	proxy *faultproxy.Proxy
	hangs atomic.Bool
	until chan struct{}
}

func newWayToRedis(t testing.TB) *wayToRedis {
	t.Helper()
	w := &wayToRedis{proxy: faultproxy.New(t, redistest.Start(t).Addr), until: make(chan struct{})}
	t.Cleanup(func() { close(w.until) })
	return w
}

// dial asks nobody how long it may take while it hangs.
func (w *wayToRedis) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	if w.hangs.Load() {
		<-w.until
		return nil, errors.New("it hung")
	}
	return (&net.Dialer{}).DialContext(ctx, network, w.proxy.Addr)
}

// lose takes Redis away: all that is sent is swallowed, and new connections
// hang.
func (w *wayToRedis) lose() {
	w.proxy.BlackHole()
	w.hangs.Store(true)
}

// cut breaks the connections besides.
func (w *wayToRedis) cut() {
	w.lose()
	w.proxy.CutAll()
}

// patientClients have settings by which a call would wait for minutes.
var patientClients = map[string]func(addr string, dial func(context.Context, string, string) (net.Conn, error)) redis.UniversalClient{
	"no read timeout": func(addr string, dial func(context.Context, string, string) (net.Conn, error)) redis.UniversalClient {
		return redis.NewClient(&redis.Options{Addr: addr, Dialer: dial, ReadTimeout: -1, WriteTimeout: -1})
	},
	"an hour for everything, and a hundred tries": func(addr string, dial func(context.Context, string, string) (net.Conn, error)) redis.UniversalClient {
		return redis.NewClient(&redis.Options{
			Addr: addr, Dialer: dial, DialTimeout: time.Hour, ReadTimeout: time.Hour, WriteTimeout: time.Hour, PoolTimeout: time.Hour,
			MaxRetries: 100, MinRetryBackoff: time.Minute, MaxRetryBackoff: time.Hour,
		})
	},
	"one connection for all": func(addr string, dial func(context.Context, string, string) (net.Conn, error)) redis.UniversalClient {
		return redis.NewClient(&redis.Options{Addr: addr, Dialer: dial, PoolSize: 1, MaxActiveConns: 1, PoolTimeout: time.Hour, ReadTimeout: time.Hour})
	},
	"contexts honoured": func(addr string, dial func(context.Context, string, string) (net.Conn, error)) redis.UniversalClient {
		return redis.NewClient(&redis.Options{Addr: addr, Dialer: dial, ContextTimeoutEnabled: true, ReadTimeout: time.Hour, PoolSize: 2, PoolTimeout: time.Hour})
	},
}

func TestNoSettingOfTheClientMakesACallWaitLonger(t *testing.T) { // B88
	for name, client := range patientClients {
		for how, take := range map[string]func(*wayToRedis){"hung": (*wayToRedis).lose, "cut and hung": (*wayToRedis).cut} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				way := newWayToRedis(t)
				c := client(way.proxy.Addr, way.dial)
				t.Cleanup(func() { _ = c.Close() })
				store, err := NewRedisStore(c, RedisOptions{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = store.Close() })
				th := testThrottle(t, Config{Store: store, Outage: OutageClosed, Lanes: noWait, Budgets: testBudget(Requests(1000, time.Hour))})
				take(way)
				refusedQuickly(t, th, 200)
				start := time.Now()
				_, _ = th.Status(context.Background())
				_ = th.Close()
				_ = store.Close()
				if took := time.Since(start); took > muchLonger {
					t.Errorf("Status and Close took %v", took)
				}
			})
		}
	}
}

// refusedQuickly has n calls refused side by side for want of a store.
func refusedQuickly(t *testing.T, th *Throttle, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			start := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
			defer cancel()
			if _, err := th.Acquire(ctx, testCall); !errors.Is(err, ErrStore) {
				t.Errorf("got %v", err)
			}
			if took := time.Since(start); took > muchLonger {
				t.Errorf("a call took %v", took)
			}
		})
	}
	wg.Wait()
}

func TestAStartWithoutRedisIsBoundedWhateverTheClientsSettings(t *testing.T) { // B86, B87
	for name, client := range patientClients {
		for how, take := range map[string]func(*wayToRedis){
			"hung":    func(w *wayToRedis) { w.proxy.BlackHole() },
			"no dial": func(w *wayToRedis) { w.hangs.Store(true) },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				way := newWayToRedis(t)
				take(way)
				const wait = 300 * time.Millisecond
				for _, without := range []bool{false, true} {
					c := client(way.proxy.Addr, way.dial)
					t.Cleanup(func() { _ = c.Close() })
					start := time.Now()
					store, err := newRedisStore(c, RedisOptions{StartWithout: without}, wait)
					if took := time.Since(start); took > wait+muchLonger {
						t.Errorf("StartWithout %v: a start took %v", without, took)
					}
					if !without {
						if err == nil {
							t.Error("no error without Redis")
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = store.Close() })
					th := testThrottle(t, Config{Store: store, Outage: OutageClosed, Lanes: noWait, Budgets: testBudget(Requests(1000, time.Hour))})
					refusedQuickly(t, th, 20)
				}
			})
		}
	}
}

// The timeout counts from a call's arrival, over all claims that it waits for, but
// a fifth of it stays for the last.
func TestAClaimHasWhatIsLeftOfItsCallsTime(t *testing.T) {
	s := &RedisStore{timeout: time.Second}
	for waited, want := range map[time.Duration]time.Duration{
		0: time.Second, 300 * time.Millisecond: 700 * time.Millisecond, 900 * time.Millisecond: 200 * time.Millisecond,
		time.Hour: 200 * time.Millisecond,
	} {
		got := s.allowance(&claim{arrived: time.Now().Add(-waited)})
		if got > want || got < want-100*time.Millisecond || got < s.timeout/5 {
			t.Errorf("after %v it may take %v, want %v", waited, got, want)
		}
	}
	if got := s.allowance(&claim{}); got != time.Second {
		t.Errorf("a claim for nobody may take %v", got)
	}
}
