package throttle

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/lanes"
	"github.com/redis/go-redis/v9"
)

// outageThrottle returns a throttle on a Redis of its own, and channels that
// tell when an outage starts and ends.
func outageThrottle(t *testing.T, c Config) (th *Throttle, s *redistest.Server, started, ended chan Event) {
	t.Helper()
	s = redistest.Start(t)
	store, err := NewRedisStore(s.Client(t), RedisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	started, ended = make(chan Event, 100), make(chan Event, 100)
	c.Store = &countingStore{Store: store}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Observe = func(e Event) {
		switch e.Kind {
		case EventOutageStart:
			started <- e
		case EventOutageEnd:
			ended <- e
		}
	}
	return testThrottle(t, c), s, started, ended
}

func admitted(th *Throttle, n int, lane lanes.Lane) (went int, last error) {
	for range n {
		c := testCall
		c.Lane = lane
		p, err := th.Acquire(context.Background(), c)
		if err == nil {
			went++
			p.Done()
		} else {
			last = err
		}
	}
	return went, last
}

var noWait = []lanes.Lane{{Name: "live", Share: 1}, {Name: "background", Share: 0.6}}

func TestModesOfAnOutage(t *testing.T) { // B92
	for _, tt := range []struct {
		name             string
		config           Config
		live, background int
		reason           error
	}{
		{"local is this process's part of a fleet of four", Config{Instances: 4}, 25, 0, ErrBudget},
		{"open", Config{Outage: OutageOpen}, 200, 200, nil},
		{"closed", Config{Outage: OutageClosed}, 0, 0, ErrStore},
		{"live open, background closed", Config{LaneOutage: map[string]Outage{"live": OutageOpen, "background": OutageClosed}}, 200, 0, ErrStore},
		{"the strictest wins", Config{Outage: OutageClosed, LaneOutage: map[string]Outage{"live": OutageOpen}}, 0, 0, ErrStore},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.config
			c.Lanes, c.Budgets = noWait, testBudget(Requests(100, 24*time.Hour))
			th, s, started, _ := outageThrottle(t, c)
			s.Stop(t)
			live, err := admitted(th, 200, noWait[0])
			background, err2 := admitted(th, 200, noWait[1])
			if err2 != nil {
				err = err2
			}
			if live != tt.live || background != tt.background {
				t.Errorf("%d live and %d background calls went, want %d and %d", live, background, tt.live, tt.background)
			}
			if tt.reason != nil && !errors.Is(err, tt.reason) {
				t.Errorf("denied with %v, want %v", err, tt.reason)
			}
			if e := <-started; e.Err == nil {
				t.Error("the event has no cause")
			}
			if len(started) > 0 {
				t.Error("the outage started twice")
			}
			if st, _ := th.Status(context.Background()); !st.Outage || st.Cause == nil {
				t.Errorf("status: %+v", st)
			}
		})
	}
}

func TestCallsGoBackToTheStoreWhenItReturns(t *testing.T) { // B91
	th, s, started, ended := outageThrottle(t, Config{Lanes: noWait, Budgets: testBudget(Requests(10, 24*time.Hour))})
	admitted(th, 2, noWait[0])
	s.Stop(t)
	admitted(th, 1, noWait[0])
	<-started
	p, err := th.Acquire(context.Background(), testCall)
	if err != nil {
		t.Fatal(err)
	}
	p.Answered(Verdict{Class: KeyRefused, Scope: ScopeKey})
	p.Done()
	s.Restart(t)
	<-ended
	// The verdict that couldn't be written then is written now.
	other, err := NewRedisStore(s.Client(t), RedisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	second := testThrottle(t, Config{Store: other, Lanes: noWait, Logger: slog.New(slog.DiscardHandler)})
	for {
		_, err = second.Acquire(context.Background(), testCall)
		if err != nil {
			break
		}
	}
	if !errors.Is(err, ErrKeyRefused) {
		t.Errorf("another process got %v", err)
	}
}

func TestAHungRedisCostsItsFirstCallersTheTimeoutAndLaterOnesNothing(t *testing.T) { // B89, B152
	th, s, started, _ := outageThrottle(t, Config{Lanes: noWait, Outage: OutageOpen, Budgets: testBudget(Requests(10, 24*time.Hour))})
	s.Pause(t)
	defer s.Continue(t)
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			p, err := th.Acquire(context.Background(), testCall)
			if err != nil {
				t.Error(err)
			}
			p.Done()
		})
	}
	wg.Wait()
	<-started
	// From here on no call goes near the store, but for the background's tests.
	store := th.store.(*countingStore)
	before := store.claims.Load()
	if n, err := admitted(th, 100, noWait[0]); n != 100 {
		t.Errorf("%d calls went: %v", n, err)
	}
	if n := store.claims.Load() - before; n > 5 {
		t.Errorf("%d claims went to a store that is out of reach", n)
	}
}

func TestOutagesAreLoggedOnceAtStartAndEnd(t *testing.T) { // B85
	var mu sync.Mutex
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, nil))
	th, s, _, ended := outageThrottle(t, Config{Lanes: noWait, Outage: OutageOpen, Logger: logger})
	s.Stop(t)
	admitted(th, 100, noWait[0])
	s.Restart(t)
	<-ended
	mu.Lock()
	defer mu.Unlock()
	for _, line := range []string{"the store is out of reach", "the store is back"} {
		if n := strings.Count(log.String(), line); n != 1 {
			t.Errorf("%q is logged %d times:\n%s", line, n, log.String())
		}
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  *bytes.Buffer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

func TestARedisThatCannotBeUsedIsAnErrorAtStartUnlessTheOptionSaysOtherwise(t *testing.T) { // B86, B87, B103
	server := redistest.Start(t)
	admin := server.Client(t)
	for user, rules := range map[string][]string{
		"noscript":  {"on", ">pw", "~*", "&*", "+@all", "-@scripting"},
		"nopublish": {"on", ">pw", "~*", "&*", "+@all", "-publish"},
		"nokeys":    {"on", ">pw", "~other:*", "&*", "+@all"},
	} {
		if err := admin.ACLSetUser(context.Background(), user, rules...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name    string
		options redis.Options
		want    string
	}{
		{"nobody listens", redis.Options{Addr: "127.0.0.1:1"}, "a connection"},
		{"a wrong password", redis.Options{Addr: server.Addr, Username: "noscript", Password: "wrong"}, "a connection"},
		{"no scripts", redis.Options{Addr: server.Addr, Username: "noscript", Password: "pw"}, "SCRIPT LOAD"},
		{"no publish", redis.Options{Addr: server.Addr, Username: "nopublish", Password: "pw"}, "PUBLISH"},
		{"no keys", redis.Options{Addr: server.Addr, Username: "nokeys", Password: "pw"}, "headgate:*"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client := redis.NewClient(&tt.options)
			defer client.Close()
			const wait = 2 * time.Second // for him who doesn't listen
			_, err := newRedisStore(client, RedisOptions{}, wait)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an error that names %q", err, tt.want)
			}
			if strings.Contains(err.Error(), "pw") {
				t.Errorf("the error contains the password: %v", err)
			}
			store, err := newRedisStore(client, RedisOptions{StartWithout: true}, wait)
			if err != nil {
				t.Fatalf("StartWithout: %v", err)
			}
			defer store.Close()
			th := testThrottle(t, Config{Store: store, Outage: OutageClosed, Lanes: noWait, Logger: slog.New(slog.DiscardHandler)})
			if _, err := admitted(th, 1, noWait[0]); tt.name != "no publish" && !errors.Is(err, ErrStore) {
				t.Errorf("StartWithout, then a call: %v", err)
			}
		})
	}
	if _, err := NewRedisStore(nil, RedisOptions{}); err == nil {
		t.Error("a nil client is no error")
	}
	if _, err := NewRedisStore(admin, RedisOptions{Prefix: "a{b}"}); err == nil {
		t.Error("a prefix with braces is no error")
	}
}

func TestScriptFlushIsNoOutage(t *testing.T) { // B94, B97
	th, s, started, _ := outageThrottle(t, Config{Lanes: noWait, Budgets: testBudget(Requests(10, 24*time.Hour))})
	client := s.Client(t)
	flush := func() {
		if err := client.ScriptFlush(context.Background()).Err(); err != nil {
			t.Fatal(err)
		}
	}
	var permits []Permit
	for range 3 {
		flush()
		p, err := th.Acquire(context.Background(), testCall)
		if err != nil {
			t.Fatal(err)
		}
		permits = append(permits, p)
	}
	flush()
	permits[0].Cancel()
	flush()
	permits[1].Answered(Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Minute})
	flush()
	if _, err := admitted(th, 1, noWait[0]); !errors.Is(err, ErrPaused) {
		t.Errorf("after the pause: %v", err)
	}
	if len(started) > 0 {
		t.Errorf("an outage: %v", (<-started).Err)
	}
}

func TestStartWaitsForARedisThatIsStartedTogetherWithItsUsers(t *testing.T) {
	server := redistest.Start(t)
	server.Stop(t)
	type result struct {
		store *RedisStore
		err   error
	}
	client := server.Client(t)
	started := make(chan result)
	go func() {
		store, err := NewRedisStore(client, RedisOptions{})
		started <- result{store, err}
	}()
	server.Restart(t)
	r := <-started
	if r.err != nil {
		t.Fatal(r.err)
	}
	_ = r.store.Close()
}

func TestAFleetCountsItselfAsItGrows(t *testing.T) {
	server := redistest.Shared(t)
	prefix := "test-" + newProbeID()[:8]
	var stores []*RedisStore
	for range 3 {
		store, err := NewRedisStore(server.Client(t), RedisOptions{Prefix: prefix, Timeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		stores = append(stores, store)
	}
	ranks := map[int]bool{}
	for _, s := range stores {
		for deadline := time.Now().Add(4 * time.Second); ; { // before the next beat would tell
			rank, live := s.fleet()
			if live == len(stores) {
				ranks[rank] = true
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("a process counts %d, want %d", live, len(stores))
			}
			runtime.Gosched()
		}
	}
	if len(ranks) != len(stores) {
		t.Errorf("%d ranks for %d processes", len(ranks), len(stores))
	}
}
