package throttle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
)

func TestLeasesCountAsUseAndAllOfTheBudgetIsUsable(t *testing.T) {
	for _, processes := range []int{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			memory := NewMemoryStore()
			var fleet []leaser
			for range processes {
				fleet = append(fleet, newLeaser(t, memory, Config{
					Lease: chunkOfTen, Budgets: testBudget(Requests(100, 24*time.Hour)),
					Account: []Limit{Tokens(100_000, 24*time.Hour)}, Instances: processes,
				}))
			}
			went := 0
			for i := range 600 {
				p, _, err := fleet[i%processes].try("live", 10)
				if err != nil {
					continue
				}
				went++
				p.Settle(Cost{InputTokens: 10})
				if used := fleet[0].charged(); used < float64(went) || used > 100 {
					t.Fatalf("%d processes: %v are charged after %d calls", processes, used, went)
				}
			}
			if went != 100 {
				t.Errorf("%d processes: %d calls of 100 went", processes, went)
			}
		})
	}
}

func TestNobodyIsRefusedWhereItsOwnChunkHasRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: leasing.Policy{Chunk: 30}, Budgets: testBudget(Tokens(1000, 24*time.Hour), Requests(1000, time.Hour))})
		took := int64(0)
		for i := range 400 {
			tokens := int64(1 + i*7%40)
			if p, _, err := l.try("live", tokens); err == nil {
				took += tokens
				p.Done()
			} else if left := 1000 - took; left >= tokens {
				t.Fatalf("call %d of %d tokens was refused with %d left: %v", i, tokens, left, err)
			}
		}
		if took != 1000 {
			t.Errorf("%d tokens of 1000 were used", took)
		}
	})
}

func TestChunksShrinkAsTheBudgetRunsLow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryStore()
		l := newLeaser(t, memory, Config{Lease: leasing.Policy{Chunk: 1000}, Budgets: testBudget(Requests(100, 24*time.Hour)), Instances: 2})
		plain := newLeaser(t, memory, Config{Budgets: testBudget(Requests(100, 24*time.Hour))})
		p, _, err := l.try("live", 0)
		if err != nil {
			t.Fatal(err)
		}
		p.Done()
		if got := l.leasedNow(0); got != math.Floor(99.0/4) {
			t.Errorf("%v of 99 are leased by one of two, want a quarter", got)
		}
		for range 75 { // all the rest, by somebody without a lease
			p, _, err := plain.try("live", 0)
			if err != nil {
				t.Fatalf("a process without leases: %v", err)
			}
			p.Done()
		}
		if _, _, err := plain.try("live", 0); !errors.Is(err, ErrBudget) {
			t.Errorf("with all used or leased: %v", err)
		}
	})
}

func TestALeaseBelongsToItsLaneAndHigherOnesMaySpendIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryStore()
		l := newLeaser(t, memory, Config{Lease: chunkOfTen, Budgets: testBudget(Requests(1000, time.Hour))})
		call := func(lane string) int64 {
			before := l.store.claims.Load()
			p, _, err := l.try(lane, 0)
			if err != nil {
				t.Fatal(err)
			}
			p.Done()
			return l.store.claims.Load() - before
		}
		if call("background") != 1 || call("background") != 0 {
			t.Error("the lane doesn't spend its own lease")
		}
		if call("live") != 0 {
			t.Error("a higher lane doesn't spend it")
		}
		time.Sleep(2 * time.Second) // that one has ended
		if call("live") != 1 || call("live") != 0 {
			t.Error("the higher lane has no lease of its own")
		}
		if call("background") != 1 {
			t.Error("the lower lane spent the higher one's lease")
		}
	})
}

func TestALeaseHoldsEveryLimitAtTheMeanCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryStore()
		l := newLeaser(t, memory, Config{
			Lease: chunkOfTen, Budgets: testBudget(Requests(1000, time.Hour), Tokens(100_000, time.Hour)),
			Account: []Limit{Tokens(50_000, time.Hour), Points(10, time.Hour)},
		})
		p, _, err := l.try("live", 300)
		if err != nil {
			t.Fatal(err)
		}
		p.Done()
		memory.mu.Lock()
		a := memory.accounts["k"]
		got := []float64{a.budgets["m"].counts[0].current, a.budgets["m"].counts[1].current, a.whole.counts[0].current, a.whole.counts[1].current}
		memory.mu.Unlock()
		if want := []float64{11, 3300, 3300, 0}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("charged are %v, want %v: the call and ten like it", got, want)
		}
	})
}

func TestNoLeaseForPacedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeaser(t, NewMemoryStore(), Config{Lease: leasing.Policy{Chunk: 5}, Budgets: testBudget(Requests(10, time.Second).Using(GCRA).WithBurst(1))})
		for range 20 {
			p, _, err := l.try("live", 0)
			if err != nil {
				t.Fatal(err)
			}
			p.Done()
			if n := l.leasedNow(0); n != 0 {
				t.Fatalf("%v calls are leased of a limit that spaces them", n)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

func TestNoLeaseWhileAnybodyWaitsInItsOwnOrAHigherLane(t *testing.T) {
	for _, tt := range []struct {
		waits, asks string
		leases      bool
	}{
		{"live", "live", false}, {"live", "background", false}, {"background", "live", true}, {"background", "background", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			memory := NewMemoryStore()
			c := Config{Lease: chunkOfTen, Budgets: testBudget(Requests(1000, time.Hour), Tokens(100, time.Hour)), Lanes: []lanes.Lane{{Name: "live", Share: 1, Wait: -1}, {Name: "background", Share: 1, Wait: -1}}}
			other, l := newLeaser(t, memory, c), newLeaser(t, memory, c)
			p, _, err := other.try(tt.waits, 60)
			if err != nil {
				t.Fatal(err)
			}
			p.Done()
			ctx, cancel := context.WithCancel(context.Background())
			go func() { // in the other process, for tokens
				c := testCall
				c.Lane.Name, c.Cost.InputTokens = tt.waits, 90
				_, _ = other.Acquire(ctx, c)
			}()
			synctest.Wait()
			p, _, err = l.try(tt.asks, 0)
			if err != nil {
				t.Fatal(err)
			}
			p.Done()
			lane := 0
			if tt.asks == "background" {
				lane = 1
			}
			if got := l.leasedNow(lane) > 0; got != tt.leases {
				t.Errorf("%s asks while %s waits: leased %v", tt.asks, tt.waits, got)
			}
			cancel()
			synctest.Wait()
		})
	}
}

func TestAutoFollowsTheDemandWithinAHundredthOfEveryAmount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryStore()
		models := []Budget{}
		for _, m := range []string{"m", "n"} {
			models = append(models, Budget{Models: []string{m}, Limits: []Limit{Requests(20_000, time.Minute).Using(TokenBucket)}})
		}
		c := Config{Lease: leasing.Auto(), Budgets: models, Account: []Limit{Tokens(300_000, time.Minute).Using(TokenBucket)}, Instances: 2}
		fleet := []leaser{newLeaser(t, memory, c), newLeaser(t, memory, c)}
		most, mostTokens := 0.0, 0.0
		for i := range 4000 {
			l := fleet[i%2]
			l.store.set(false, time.Millisecond)
			for _, lane := range []string{"live", "background"} {
				call := testCall
				call.Model, call.Lane.Name, call.Cost.InputTokens = []string{"m", "n"}[i/2%2], lane, 20
				if p, err := l.Acquire(context.Background(), call); err == nil {
					p.Done()
				}
			}
			time.Sleep(time.Millisecond)
			requests, tokens := 0.0, 0.0
			for _, l := range fleet {
				for _, m := range []string{"m", "n"} {
					q, _ := l.queueFor(&Call{Key: "k", Model: m})
					out := make([]float64, 2)
					q.leases.mu.Lock()
					q.leases.addOut(out, 0)
					q.leases.mu.Unlock()
					if m == "m" {
						requests += out[0]
					}
					tokens += out[1]
				}
			}
			most, mostTokens = max(most, requests), max(mostTokens, tokens)
		}
		if most > 200 || most < 20 {
			t.Errorf("at most %v of 20000 requests were leased, want some and at most 200", most)
		}
		if mostTokens > 3000 || mostTokens < 500 {
			t.Errorf("at most %v of the account's 300000 tokens were leased, want some and at most 3000", mostTokens)
		}
		if n := fleet[0].store.claims.Load() + fleet[1].store.claims.Load(); n > 4000 {
			t.Errorf("%d round trips for 8000 calls", n)
		}
	})
}

func TestAutoLeasesNothingOfShortWindowsOrToALoneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			per   time.Duration
			every time.Duration
		}{{9 * time.Second, time.Millisecond}, {time.Minute, time.Second}} {
			l := newLeaser(t, NewMemoryStore(), Config{Lease: leasing.Auto(), Budgets: testBudget(Requests(1_000_000, tt.per))})
			for range 50 {
				p, _, err := l.try("live", 0)
				if err != nil {
					t.Fatal(err)
				}
				p.Done()
				time.Sleep(tt.every)
			}
			if n := l.store.claims.Load(); n != 50 {
				t.Errorf("per %v, a call each %v: %d round trips for 50 calls", tt.per, tt.every, n)
			}
		}
	})
}
