package throttle

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/probe"
)

// The script: servers forget it, or refuse it.

// hammer has some goroutines make calls until the returned function is called,
// which returns once they have stopped.
func hammer(th *Throttle, each func(err error)) (stop func()) {
	var wg sync.WaitGroup
	var stopped atomic.Bool
	for range 8 {
		wg.Go(func() {
			for !stopped.Load() {
				p, err := th.Acquire(context.Background(), testCall)
				p.Done()
				each(err)
			}
		})
	}
	return func() {
		stopped.Store(true)
		wg.Wait()
	}
}

// commands returns the lines of MONITOR with the given command of a client.
func commands(lines []string, name string) []string {
	return slices.DeleteFunc(lines, func(line string) bool {
		return isLua(line) || !strings.Contains(line, `] "`+name+`" `)
	})
}

func TestAScriptForgottenUnderLoadIsSentOnceAndNoCallGoesUncounted(t *testing.T) { // B94
	const amount, flushes = 1200, 3
	th, s, started, _ := outageThrottle(t, Config{Lanes: noWait, Outage: OutageClosed, Budgets: testBudget(Requests(amount, 24*time.Hour))})
	admin := s.Client(t)
	var went atomic.Int64
	full := make(chan struct{})
	var once sync.Once
	lines := s.Monitor(t, func() {
		stop := hammer(th, func(err error) {
			switch {
			case err == nil && went.Add(1)%(amount/(flushes+1)) == 0 && went.Load() < amount:
				if err := admin.ScriptFlush(context.Background()).Err(); err != nil {
					t.Error(err)
				}
			case errors.Is(err, ErrBudget):
				once.Do(func() { close(full) })
			case err != nil:
				t.Error(err)
			}
		})
		<-full
		stop()
	})
	if n := went.Load(); n != amount {
		t.Errorf("%d calls went, want %d", n, amount)
	}
	sent := slices.DeleteFunc(commands(lines, "eval"), func(line string) bool { return !strings.Contains(line, "One claim, whole") })
	if n := len(sent); n < 1 || n > flushes {
		t.Errorf("the script was sent %d times after it was forgotten %d times", n, flushes)
	}
	if len(started) > 0 {
		t.Errorf("an outage: %v", (<-started).Err)
	}
}

func TestARestartUnderLoadIsAnOutageAndNoSpike(t *testing.T) { // B94
	const amount = 300
	th, s, started, ended := outageThrottle(t, Config{Lanes: noWait, Outage: OutageClosed, Budgets: testBudget(Requests(amount, 24*time.Hour))})
	var restarted atomic.Bool
	var before, after atomic.Int64
	full := make(chan struct{})
	var once sync.Once
	stop := hammer(th, func(err error) {
		switch {
		case err == nil && restarted.Load():
			after.Add(1)
		case err == nil:
			before.Add(1)
		case errors.Is(err, ErrBudget) && after.Load() > 0:
			once.Do(func() { close(full) })
		case !errors.Is(err, ErrBudget) && !errors.Is(err, ErrStore):
			t.Error(err)
		}
	})
	for before.Load() < amount/2 {
		time.Sleep(time.Millisecond)
	}
	s.Stop(t)
	<-started
	restarted.Store(true) // closed: nothing goes until the server is back
	s.Restart(t)
	<-ended
	<-full
	stop()
	// The empty server is told what was spent. A claim whose answer was lost
	// may have been counted, for each of the callers.
	if n := before.Load() + after.Load(); n < amount-8 || n > amount {
		t.Errorf("%d calls went before the restart and %d after it, want %d in all", before.Load(), after.Load(), amount)
	}
}

func TestEveryKindOfClaimWorksRightAfterTheScriptWasForgotten(t *testing.T) { // B97
	server := redistest.Start(t)
	admin := server.Client(t)
	store := redisStoreOn(t, server)
	var outages atomic.Int64
	cfg := Config{
		Store: store, Lanes: noWait, Outage: OutageClosed, Budgets: testBudget(Tokens(100, 24*time.Hour)),
		Probe: probe.Policy{Every: time.Millisecond},
		Observe: func(e Event) {
			if e.Kind == EventOutageStart {
				outages.Add(1)
			}
		},
	}
	th, reader := testThrottle(t, cfg), testThrottle(t, cfg)
	take := func(th *Throttle, key Fingerprint, tokens int64) (Permit, error) {
		return th.Acquire(context.Background(), Call{Key: key, Model: "m", Cost: Cost{InputTokens: tokens}})
	}
	q, _ := th.queueFor(&testCall)
	var p Permit
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"a call", func() (err error) { p, err = take(th, "k", 60); return err }},
		{"a question", func() error {
			return th.Check(context.Background(), Call{Key: "k", Model: "m", Cost: Cost{InputTokens: 40}})
		}},
		{"a refund", func() error { p.Settle(Cost{InputTokens: 10}); return settled(q) }},
		{"a call in the refunded room", func() (err error) { p, err = take(th, "k", 80); return err }},
		{"an excess", func() error { p.Settle(Cost{InputTokens: 90}); return settled(q) }},
		{"a call on the last unit that doesn't fit", func() error { _, err := take(th, "k", 1); return not(err, ErrBudget) }},
		{"a refusal of a key", func() (err error) {
			if p, err = take(th, "refused", 1); err == nil {
				p.Answered(Verdict{Class: KeyRefused})
				p.Done()
			}
			return err
		}},
		{"a probe", func() (err error) {
			for { // until it may begin
				if p, err = take(th, "refused", 1); !errors.Is(err, ErrKeyRefused) {
					return err
				}
			}
		}},
		{"a probe's answer", func() error {
			p.Answered(Verdict{Class: OK})
			p.Done()
			_, err := take(reader, "refused", 1)
			return err
		}},
		{"a pause", func() error {
			p, err := take(th, "paused", 1)
			p.Answered(Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Minute})
			p.Done()
			return err
		}},
		{"the pause elsewhere", func() error { _, err := take(reader, "paused", 1); return not(err, ErrPaused) }},
	} {
		if err := admin.ScriptFlush(context.Background()).Err(); err != nil {
			t.Fatal(err)
		}
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
	}
	if n := outages.Load(); n > 0 {
		t.Errorf("%d outages", n)
	}
}

// settled returns once what was to be corrected has been told to the store.
func settled(q *queue) error {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		q.mu.Lock()
		told := len(q.settles) == 0 && !q.sending
		q.mu.Unlock()
		if told {
			return nil
		}
	}
	return errors.New("the settlement isn't told")
}

func not(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return errors.Join(errors.New("got another answer"), err)
}

func TestAScriptThatTheServerRefusesOpensNoDoor(t *testing.T) { // B98
	for outage, want := range map[Outage]int{OutageClosed: 0, OutageLocal: 5} {
		cluster := redistest.SharedCluster(t)
		store, err := NewRedisStore(cluster.Client(t), RedisOptions{Prefix: "test-" + newProbeID()[:8], Timeout: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		store.keys.prefix = "{}" + store.keys.prefix // no prefix that the options take does this
		var mu sync.Mutex
		var log bytes.Buffer
		th := testThrottle(t, Config{
			Store: store, Lanes: noWait, Outage: outage, Budgets: testBudget(Requests(5, 24*time.Hour)),
			Logger: slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, nil)),
		})
		n, err := admitted(th, 20, noWait[0])
		if n != want || outage == OutageClosed && !errors.Is(err, ErrStore) {
			t.Errorf("mode %d: %d calls went, then %v, want %d", outage, n, err, want)
		}
		mu.Lock()
		if lines := strings.Count(log.String(), "CROSSSLOT"); lines != 1 {
			t.Errorf("mode %d: the refusal is logged %d times, want once:\n%s", outage, lines, log.String())
		}
		mu.Unlock()
	}
}
