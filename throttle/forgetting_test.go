package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/throttle"
	"github.com/redis/go-redis/v9"
)

// forgetful is a fleet on a Redis of its own, which may lose its memory.
func forgetful(t *testing.T) (fleet, *redistest.Server) {
	t.Helper()
	server := redistest.Start(t)
	return fleetOf(func(t testing.TB) redis.UniversalClient { return server.Client(t) }, server.KeysWithoutExpiry), server
}

// room is how many more calls of n tokens go, up to most.
func room(t *testing.T, th *throttle.Throttle, n int64, most int) int {
	t.Helper()
	for i := range most {
		p, err := tryNow(t, th, tokens(n))
		if err != nil {
			if !errors.Is(err, throttle.ErrBudget) {
				t.Fatal(err)
			}
			return i
		}
		p.Done()
	}
	return most
}

// losses are ways in which Redis loses what it knows of the test's account.
func losses(t *testing.T, server *redistest.Server) map[string]func() {
	client := server.Client(t)
	remove := func(pattern string) func() {
		return func() {
			keys, err := client.Keys(context.Background(), pattern).Result()
			if err != nil || len(keys) == 0 {
				t.Fatalf("keys like %s: %v, %v", pattern, keys, err)
			}
			if err := client.Del(context.Background(), keys...).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	return map[string]func(){
		"everything":           func() { server.Flush(t) },
		"the budget's record":  remove("*}:b:*"),
		"the account's record": remove("*}:a"),
	}
}

func TestOneProcessGoesOnWithTheRestOfTheBudgetAfterALoss(t *testing.T) { // rule 12
	_, server := forgetful(t)
	for name, lose := range losses(t, server) {
		for _, algorithm := range everyAlgorithm {
			t.Run(name+"/"+algorithm.String(), func(t *testing.T) {
				server.Flush(t)
				fl := fleetOf(func(t testing.TB) redis.UniversalClient { return server.Client(t) }, server.KeysWithoutExpiry)
				th := newThrottle(t, throttle.Config{
					Store: fl.open(t), Lanes: patient(),
					Budgets: budget(throttle.Requests(20, 24*time.Hour).Using(algorithm), throttle.Tokens(1000, 24*time.Hour).Using(algorithm)),
					Account: []throttle.Limit{throttle.InputTokens(150, 24*time.Hour).Using(algorithm)},
				})
				if n := room(t, th, 10, 8); n != 8 {
					t.Fatalf("%d of 8 calls went", n)
				}
				lose()
				if n := room(t, th, 10, 100); n != 7 {
					t.Errorf("%d calls of ten of the account's 150 tokens went after 8 and a loss, want 7", n)
				}
				if n := room(t, th, 0, 100); n != 5 {
					t.Errorf("%d calls of 20 went after 15 and a loss, want 5", n)
				}
				everyKeyExpires(t, fl)
			})
		}
	}
}

func TestAFleetExceedsItsBudgetByWhatSomeDidNotKnow(t *testing.T) { // rule 12
	fl, server := forgetful(t)
	for _, n := range []int{2, 3} {
		server.Flush(t)
		fleet := processes(t, fl, n, throttle.Config{Lanes: patient(), Budgets: []throttle.Budget{{
			Name: fmt.Sprint("of ", n), Models: []string{model}, Limits: []throttle.Limit{throttle.Requests(100, 24*time.Hour)},
		}}})
		went := 0
		for i, th := range fleet { // the later ones have heard more
			went += room(t, th, 0, 10*(i+1))
		}
		unknown := went - 10 // since the first one's last answer
		server.Flush(t)
		for range 100 {
			for _, th := range fleet {
				went += room(t, th, 0, 1)
			}
		}
		if went < 100 || went > 100+unknown {
			t.Errorf("%d processes: %d calls of 100 went, want at most %d more", n, went, unknown)
		}
	}
}

// A server that is started anew is empty, and everybody's connections break. One
// that was flushed goes on as if nothing had been; that it has forgotten is
// found by a sign of life.
func TestWhatAProcessKnowsHoldsForTheFleetAfterARestart(t *testing.T) { // rule 12
	t.Run("restart", func(t *testing.T) {
		holdAfter(t, func(server *redistest.Server) {
			server.Stop(t)
			server.Restart(t)
		})
	})
	t.Run("flush", func(t *testing.T) { holdAfter(t, func(server *redistest.Server) { server.Flush(t) }) })
}

func holdAfter(t *testing.T, loss func(*redistest.Server)) {
	for _, tt := range []struct {
		name    string
		verdict throttle.Verdict
		reason  error
	}{
		{"a pause of the model", busy(5 * time.Minute), throttle.ErrPaused},
		{"a refused key", refused, throttle.ErrKeyRefused},
		{"a denied model", throttle.Verdict{Class: throttle.ModelDenied, Scope: throttle.ScopeModel}, throttle.ErrModelDenied},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fl, server := forgetful(t)
			c := throttle.Config{Lanes: patient(), Outage: throttle.OutageClosed, Budgets: budget(throttle.Requests(1_000_000, 24*time.Hour))}
			knowing := processes(t, fl, 1, c)[0]
			answer(t, knowing, call(), tt.verdict)
			loss(server)
			late := processes(t, fl, 1, c)[0] // makes no claim before the other has told
			for deadline := time.Now().Add(10 * time.Second); ; {
				p, err := tryNow(t, late, call())
				if errors.Is(err, tt.reason) {
					break
				}
				p.Cancel()
				if time.Now().After(deadline) {
					t.Fatalf("a process that knew nothing is still told %v", err)
				}
			}
			everyKeyExpires(t, fl)
		})
	}
}

func TestAnOutageThatCostTheMemoryLeavesTheRestOfTheBudget(t *testing.T) { // rules 9, 10 and 12
	fl, server := forgetful(t)
	ended := make(chan struct{}, 10)
	c := throttle.Config{
		Store: fl.open(t), Lanes: patient(), Instances: 2, Budgets: budget(throttle.Requests(100, 24*time.Hour)),
		Observe: func(e throttle.Event) {
			if e.Kind == throttle.EventOutageEnd {
				ended <- struct{}{}
			}
		},
	}
	th := newThrottle(t, c)
	if n := room(t, th, 0, 30); n != 30 {
		t.Fatalf("%d calls of 30 went", n)
	}
	server.Stop(t)
	local := room(t, th, 0, 100) // half of the budget, less what was spent
	server.Restart(t)
	<-ended
	// At first the store is only told; then it is asked again.
	n := 0
	for deadline := time.Now().Add(10 * time.Second); 30+local+n < 100 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		n += room(t, th, 0, 200)
	}
	if n += room(t, th, 0, 200); 30+local+n != 100 {
		t.Errorf("30 calls went, then %d without the store, then %d: not 100 in all", local, n)
	}
}

func TestAnExpiredRecordCostsNoSecondRoundTripAndALossOne(t *testing.T) {
	fl, server := forgetful(t)
	client := server.Client(t)
	th := newThrottle(t, throttle.Config{Store: fl.open(t), Lanes: patient(), Budgets: budget(throttle.Requests(5, 50*time.Millisecond).Using(throttle.FixedWindow))})
	slow := newThrottle(t, throttle.Config{Store: fl.open(t), Lanes: patient(), Budgets: []throttle.Budget{{
		Name: "slow", Models: []string{model}, Limits: []throttle.Limit{throttle.Requests(5, 24*time.Hour)},
	}}})
	scripts := func(th *throttle.Throttle, calls int) int {
		n := 0
		for _, line := range server.Monitor(t, func() {
			for range calls {
				goes(t, th, context.Background(), call()).Done()
			}
		}) {
			if strings.Contains(line, `"evalsha"`) && !strings.Contains(line, " lua] ") {
				n++
			}
		}
		return n
	}
	goes(t, th, context.Background(), call()).Done()
	for records := []string{""}; len(records) > 0; { // until its record has expired
		var err error
		if records, err = client.Keys(context.Background(), "*}:b:*").Result(); err != nil {
			t.Fatal(err)
		}
	}
	if n := scripts(th, 1); n != 1 {
		t.Errorf("%d round trips after the record has expired", n)
	}
	server.Flush(t)
	goes(t, slow, context.Background(), call()).Done()
	server.Flush(t)
	if n := scripts(slow, 1); n != 2 {
		t.Errorf("%d round trips after a loss, want two", n)
	}
	if n := scripts(slow, 1); n != 1 {
		t.Errorf("%d round trips for the next call", n)
	}
}
