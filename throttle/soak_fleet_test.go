//go:build unix

package throttle_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/faultproxy"
	"github.com/headgate-go/headgate/internal/procs"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/probe"
	"github.com/headgate-go/headgate/throttle"
	"github.com/redis/go-redis/v9"
)

// A soaked is a fleet that comes to harm: throttles in this process, each with a
// proxy of its own before Redis, and workers in others.
type soaked struct {
	t        *testing.T
	prefix   string
	server   *redistest.Server
	direct   *redis.Client
	proxies  []*faultproxy.Proxy
	fleet    []*throttle.Throttle
	outages  []*atomic.Int64 // by throttle: those that have begun and not ended
	observer *throttle.Throttle
	workers  []*procs.Process
	callers  sync.WaitGroup

	went, denied, cancelled, began atomic.Int64 // began: outages
	longest                        atomic.Int64 // that a call took beyond its patience
	faults                         map[string]int
	after                          footprint
}

const (
	soakThrottles = 3
	soakWorkers   = 2
	soakCallers   = 8 // of each throttle
	soakTimeout   = 50 * time.Millisecond
)

func soakLanes() []lanes.Lane {
	return []lanes.Lane{{Name: "live", Share: 1, Wait: time.Second}, {Name: "background", Share: 0.6}}
}

// soakBudgets are the budgets as they are, and as they are after reloads. All
// windows are short, so that the end of the soak isn't long.
func soakBudgets(reload int) []throttle.Budget {
	n := int64(1 + reload%3)
	running := []throttle.Limit{throttle.Requests(300*n, time.Second).Using(throttle.SlidingLog)}
	if reload%2 == 0 {
		running = append(running, throttle.InFlight(10*n))
	}
	return []throttle.Budget{
		{Models: []string{model}, Limits: []throttle.Limit{
			throttle.Requests(200*n, time.Second), throttle.Tokens(20_000*n, time.Second).Using(throttle.TokenBucket),
		}},
		{Models: []string{"running"}, Limits: running},
		{Name: "others", Models: []string{"other-*"}, PerModel: true, Limits: []throttle.Limit{
			throttle.Requests(100*n, 500*time.Millisecond).Using(throttle.FixedWindow),
			throttle.Requests(400*n, time.Second).Using(throttle.GCRA),
		}},
	}
}

func soakConfig() throttle.Config {
	return throttle.Config{
		Budgets: soakBudgets(0), Lanes: soakLanes(), Account: []throttle.Limit{throttle.Requests(1000, time.Second)},
		Lease: leasing.Policy{Chunk: 5, MaxAge: 500 * time.Millisecond}, Pause: pause.Policy{Default: 50 * time.Millisecond, Max: 200 * time.Millisecond},
		Probe: probe.Policy{Every: 200 * time.Millisecond}, QueueLimit: 100,
	}
}

// soakCalls are every kind of call that there is.
func soakCalls() []throttle.Call {
	var all []throttle.Call
	for _, m := range []string{model, "running", "other-1", "other-2"} {
		for _, k := range []throttle.Fingerprint{"k1", "k2"} {
			all = append(all, throttle.Call{Key: k, Account: "shared", Model: m, Cost: throttle.Cost{InputTokens: 50}})
		}
		all = append(all, throttle.Call{Key: key, Model: m, Cost: throttle.Cost{InputTokens: 50}})
	}
	return all
}

func newSoak(t *testing.T) *soaked {
	t.Helper()
	s := &soaked{t: t, prefix: "soak", server: redistest.Start(t), faults: map[string]int{}}
	s.direct = s.server.Client(t)
	open := func(addr string, timeout time.Duration) throttle.Store {
		// As many connections as a store opens at once: more would look like a leak.
		client := redis.NewClient(&redis.Options{Addr: addr, PoolSize: 8})
		store, err := throttle.NewRedisStore(client, throttle.RedisOptions{Prefix: s.prefix, Timeout: timeout})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = store.Close(), client.Close() })
		return store
	}
	for range soakThrottles {
		proxy, open1 := faultproxy.New(t, s.server.Addr), new(atomic.Int64)
		c := soakConfig()
		c.Store = open(proxy.Addr, soakTimeout)
		c.Observe = func(e throttle.Event) {
			switch e.Kind {
			case throttle.EventOutageStart:
				s.began.Add(1)
				open1.Add(1)
			case throttle.EventOutageEnd:
				open1.Add(-1)
			}
		}
		s.proxies, s.outages, s.fleet = append(s.proxies, proxy), append(s.outages, open1), append(s.fleet, newThrottle(t, c))
	}
	c := soakConfig()
	c.Store = open(s.server.Addr, 10*time.Second)
	s.observer = newThrottle(t, c)
	for range soakWorkers {
		s.workers = append(s.workers, s.hire())
	}
	return s
}

// hire starts a process that calls all the time. Its calls are not counted as
// running: a killed one's would be for half a minute.
func (s *soaked) hire() *procs.Process {
	c := soakConfig()
	w := (&Setup{Addr: s.server.Addr, Prefix: s.prefix, Timeout: soakTimeout, Budgets: c.Budgets[:1], Lanes: c.Lanes, Lease: c.Lease, Pause: c.Pause, Every: c.Probe.Every}).worker(s.t)
	w.Call(s.t, "Begin", Load{Callers: 4, Lane: "live", For: 100 * time.Millisecond, Between: 5 * time.Millisecond}, new(int))
	return w
}

// warmUp makes every call once in every process, so that what is there for good
// is there from the beginning.
func (s *soaked) warmUp() {
	for _, th := range append(s.fleet, s.observer) {
		for _, c := range soakCalls() {
			if !soon(func() bool { p, err := th.Acquire(context.Background(), c); p.Done(); return err == nil }) {
				s.t.Fatalf("no call of %s goes", c.Model)
			}
		}
	}
	// Key records come with the first refusal, and stay.
	for _, c := range soakCalls()[:3] { // of one model, with every key
		answer(s.t, s.fleet[0], c, throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey})
		if !soon(func() bool { return s.opens(c) }) {
			s.t.Fatal("a key isn't opened")
		}
	}
}

// call has every throttle called without end.
func (s *soaked) call(ctx context.Context) {
	for i, th := range s.fleet {
		for j := range soakCallers {
			r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			s.callers.Go(func() {
				for ctx.Err() == nil {
					s.oneCall(th, r)
				}
			})
		}
	}
}

// oneCall makes a call that may wait, be cancelled, and end in any way.
func (s *soaked) oneCall(th *throttle.Throttle, r *rand.Rand) {
	all := soakCalls()
	c := all[r.IntN(len(all))]
	if r.IntN(3) == 0 {
		c.Lane = lanes.Lane{Name: "background"}
	}
	patience := time.Duration(1+r.IntN(300)) * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if r.IntN(10) == 0 {
		time.AfterFunc(time.Duration(r.IntN(20))*time.Millisecond, cancel)
	}
	start := time.Now()
	p, err := th.Acquire(ctx, c)
	s.tookLonger(int64(time.Since(start) - patience))
	if err != nil {
		s.denied.Add(1)
		if !errors.Is(err, throttle.ErrDenied) && ctx.Err() == nil {
			s.t.Errorf("a call: %v", err)
		}
		time.Sleep(time.Duration(r.IntN(10)) * time.Millisecond) // as callers do
		return
	}
	s.went.Add(1)
	time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
	if v, any := verdictOf(r); any || p.Probe() {
		p.Answered(v)
	}
	switch r.IntN(4) {
	case 0:
		p.Done()
	case 1:
		s.cancelled.Add(1)
		p.Cancel()
	default:
		p.Settle(throttle.Cost{InputTokens: r.Int64N(150)})
	}
}

// verdictOf is what the vendor says, which is mostly nothing special.
func verdictOf(r *rand.Rand) (throttle.Verdict, bool) {
	switch r.IntN(400) {
	case 0:
		return throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: time.Duration(r.IntN(200)) * time.Millisecond}, true
	case 1:
		return throttle.Verdict{Class: throttle.Overloaded, Scope: throttle.ScopeKey}, true
	case 2:
		return throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey}, true
	case 3:
		return throttle.Verdict{Class: throttle.ModelDenied, Scope: throttle.ScopeModel}, true
	}
	return throttle.Verdict{Class: throttle.OK}, false
}

// tookLonger notes by how much a call outlasted its patience.
func (s *soaked) tookLonger(by int64) {
	for longest := s.longest.Load(); by > longest && !s.longest.CompareAndSwap(longest, by); {
		longest = s.longest.Load()
	}
}
