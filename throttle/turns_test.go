package throttle_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// perSecond is a limit that lets one call go at a time, n in a second.
func perSecond(n int64) throttle.Limit {
	return throttle.Requests(n, time.Second).Using(throttle.TokenBucket).WithBurst(1)
}

// A sequence is the tenants of calls in the order in which these went.
type sequence struct {
	mu      sync.Mutex
	tenants []string
	wg      sync.WaitGroup
}

// start starts n calls of a tenant, one after another, that wait for room.
func (s *sequence) start(t *testing.T, th *throttle.Throttle, ctx context.Context, tenant string, n int) {
	t.Helper()
	for range n {
		s.wg.Add(1)
		go func() {
			defer s.wg.Done()
			p, err := th.Acquire(ctx, of(tenant))
			if err != nil {
				t.Errorf("tenant %s: %v", tenant, err)
				return
			}
			s.mu.Lock()
			s.tenants = append(s.tenants, tenant)
			s.mu.Unlock()
			p.Done()
		}()
		synctest.Wait()
	}
}

// before is how many calls of a tenant went among the first n.
func (s *sequence) before(tenant string, n int) (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range s.tenants[:min(n, len(s.tenants))] {
		if id == tenant {
			count++
		}
	}
	return count
}

// A customer's jobs wait behind themselves: another's first call goes after one
// of them at most, however many there are.
func TestATenantsCallsWaitBehindThemselves(t *testing.T) {
	for _, many := range []int{5, 50, 400} {
		t.Run(fmt.Sprint(many), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: sharedBy(throttle.TenantPolicy{Share: 1}, perSecond(1))})
				var s sequence
				s.start(t, th, context.Background(), "many", many)
				s.start(t, th, context.Background(), "few", 3)
				s.start(t, th, context.Background(), "late", 1)
				s.wg.Wait()
				// The first went at once, before anybody else came.
				if s.before("few", 8) != 3 || s.before("late", 5) != 1 {
					t.Errorf("they went in the order %v", s.tenants[:min(len(s.tenants), 14)])
				}
			})
		})
	}
}

func TestATurnHasAsManyCallsAsTheTenantsWeight(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: sharedBy(throttle.TenantPolicy{
			Weight: func(id string) int { return map[string]int{"big": 3, "none": -1}[id] },
		}, perSecond(1))})
		var s sequence
		for _, id := range []string{"big", "none", "zero"} {
			s.start(t, th, context.Background(), id, 20)
		}
		s.wg.Wait()
		for n := 5; n <= 30; n += 5 {
			if got := s.before("big", 1+n); got < 3*n/5 || got > 1+3*n/5+2 {
				t.Errorf("%d of the first %d calls are the big tenant's, want three of five", got, n)
			}
			if d := s.before("none", 1+n) - s.before("zero", 1+n); d < -1 || d > 1 {
				t.Errorf("of the first %d calls one of two equal tenants has %d more", n, d)
			}
		}
	})
}

// Lanes come before turns.
func TestTurnsAreTakenWithinALane(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ls := patient()
		ls[2].Wait, ls[2].Share = time.Hour, 1
		th := newThrottle(t, throttle.Config{Lanes: ls, Budgets: sharedBy(throttle.TenantPolicy{Share: 1}, perSecond(1))})
		var s, low sequence
		s.start(t, th, context.Background(), "first", 1)
		low.start(t, th, background(context.Background()), "quiet", 1)
		s.start(t, th, context.Background(), "loud", 10)
		s.wg.Wait()
		if n := low.before("quiet", 1); n != 0 {
			t.Error("a call of a lower lane went before those of a higher one")
		}
		low.wg.Wait()
	})
}

// Rows of several processes take turns.
func TestTenantsTakeTurnsAcrossTheFleet(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := throttle.NewMemoryStore()
		cfg := throttle.Config{Store: store, Lanes: patient(), Budgets: sharedBy(throttle.TenantPolicy{Share: 1}, perSecond(1))}
		a, b := newThrottle(t, cfg), newThrottle(t, cfg)
		var s sequence
		s.start(t, a, context.Background(), "many", 100)
		s.start(t, b, context.Background(), "few", 5)
		s.start(t, a, context.Background(), "other", 5)
		s.wg.Wait()
		if n := s.before("few", 20); n != 5 {
			t.Errorf("%d of the few went among the first 20: %v", n, s.tenants[:20])
		}
		if n := s.before("other", 20); n != 5 {
			t.Errorf("%d of the others went among the first 20: %v", n, s.tenants[:20])
		}
	})
}

// A full room is the longest row's trouble, and nobody else's.
func TestTheLongestRowGivesUpItsPlaces(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Lanes: patient(), QueueLimit: 10, Budgets: sharedBy(throttle.TenantPolicy{Share: 1}, perSecond(1)),
		})
		goes(t, th, context.Background(), call()).Done()
		results := map[string][]error{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		start := func(tenant string, n int) {
			for range n {
				wg.Go(func() {
					p, err := th.Acquire(context.Background(), of(tenant))
					p.Done()
					mu.Lock()
					results[tenant] = append(results[tenant], err)
					mu.Unlock()
				})
				synctest.Wait()
			}
		}
		start("many", 12)
		start("few", 3)
		wg.Wait()
		full := map[string]int{}
		for tenant, errs := range results {
			for _, err := range errs {
				if err != nil {
					deniedBy(t, throttle.Permit{}, err, throttle.ErrQueueFull)
					full[tenant]++
				}
			}
		}
		if full["many"] != 5 || full["few"] != 0 {
			t.Errorf("turned away: %v, want five of the many", full)
		}
	})
}

// Rows that wait for their own limits alone hold nobody up, and wake in time,
// however many there are and whoever of them is first.
func TestManyTenantsWakeInTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: sharedBy(
			throttle.TenantPolicy{Limits: []throttle.Limit{throttle.Tokens(1000, 10*time.Second).Using(throttle.TokenBucket)}},
			throttle.Tokens(100_000_000, time.Second).Using(throttle.TokenBucket),
		)})
		var wg sync.WaitGroup
		for i := range 500 {
			c := of(fmt.Sprint(i))
			c.Cost.InputTokens = 1000
			goes(t, th, context.Background(), c).Done()
			c.Cost.InputTokens = int64(1000 - i) // the last of them can go first
			began, wait := time.Now(), time.Duration(1000-i)*10*time.Millisecond
			wg.Go(func() {
				goes(t, th, context.Background(), c).Done()
				if took := time.Since(began); took < wait || took > wait+5*time.Millisecond {
					t.Errorf("tenant %s waited %v, want %v", c.Tenant, took, wait)
				}
			})
			time.Sleep(time.Millisecond)
		}
		wg.Wait()
		if b := statusOf(t, th); b.Waiting != 0 {
			t.Errorf("%d wait", b.Waiting)
		}
	})
}

// A call is told of all that stands before it: of its own tenant for that one's
// limit, and of higher lanes and others for everybody's.
func TestAWaitBehindManyIsForeseen(t *testing.T) {
	one := throttle.Requests(1, time.Second).Using(throttle.TokenBucket)
	for name, tt := range map[string]struct {
		budget      []throttle.Budget
		many, late  string
		low         bool
		least, most time.Duration
	}{
		"one's own":     {sharedBy(throttle.TenantPolicy{Limits: []throttle.Limit{one}}, throttle.Requests(1000, time.Second)), "a", "a", false, 40 * time.Second, 42 * time.Second},
		"everybody's":   {sharedBy(throttle.TenantPolicy{Share: 1}, one), "a", "a", false, 40 * time.Second, 42 * time.Second},
		"another's":     {sharedBy(throttle.TenantPolicy{Share: 1}, one), "a", "b", false, 1 * time.Second, 3 * time.Second},
		"a lower lane":  {sharedBy(throttle.TenantPolicy{Share: 1}, one), "a", "b", true, 40 * time.Second, 42 * time.Second},
		"own and lower": {sharedBy(throttle.TenantPolicy{Limits: []throttle.Limit{one}}, throttle.Requests(1000, time.Second)), "a", "a", true, 40 * time.Second, 42 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				ls := []lanes.Lane{{Name: "live", Share: 1, Wait: -1}, {Name: "low", Share: 1, Wait: -1}}
				th := newThrottle(t, throttle.Config{Lanes: ls, Budgets: tt.budget})
				ctx, cancel := context.WithCancel(context.Background())
				var wg sync.WaitGroup
				for range 41 {
					wg.Go(func() { _, _ = th.Acquire(ctx, of(tt.many)) })
					synctest.Wait()
				}
				late := of(tt.late)
				if tt.low {
					late.Lane = ls[1]
				}
				hurried, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
				e := denied(t, th, hurried, late, throttle.ErrBudget)
				if stop(); e.RetryAfter < tt.least || e.RetryAfter > tt.most {
					t.Errorf("it may come back in %v, want %v to %v", e.RetryAfter, tt.least, tt.most)
				}
				deniedBy(t, throttle.Permit{}, th.Check(context.Background(), late), throttle.ErrBudget)
				cancel()
				wg.Wait()
			})
		})
	}
}

// Who leaves the row makes room for those behind, here and in other processes.
func TestACallThatLeavesItsRowLeavesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		store := throttle.NewMemoryStore()
		cfg := throttle.Config{Store: store, Lanes: patient(), Budgets: sharedBy(
			throttle.TenantPolicy{Limits: []throttle.Limit{throttle.Tokens(60, time.Minute).Using(throttle.TokenBucket)}},
			throttle.Tokens(100_000, time.Minute).Using(throttle.TokenBucket),
		)}
		a, b := newThrottle(t, cfg), newThrottle(t, cfg)
		of60 := func(n int64) throttle.Call {
			c := of("a")
			c.Cost.InputTokens = n
			return c
		}
		goes(t, a, context.Background(), of60(50)).Done()
		ctx, cancel := context.WithCancel(context.Background())
		go func() { _, _ = a.Acquire(ctx, of60(60)) }() // needs 50 seconds
		time.Sleep(time.Millisecond)
		began := time.Now()
		done := make(chan time.Duration)
		for _, th := range []*throttle.Throttle{a, b} {
			go func() {
				goes(t, th, context.Background(), of60(5)).Done()
				done <- time.Since(began)
			}()
			synctest.Wait()
		}
		time.Sleep(10 * time.Second)
		cancel()
		for range 2 {
			if took := <-done; took < 10*time.Second || took > 10*time.Second+100*time.Millisecond {
				t.Errorf("a call behind the one that left went after %v, want 10 s", took)
			}
		}
	})
}

// A row that ends with a call that leaves holds nobody up in other processes.
func TestTheLastCallOfARowTakesItsTicketAlong(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		cfg := throttle.Config{Store: throttle.NewMemoryStore(), Lanes: patient(), Budgets: sharedBy(
			throttle.TenantPolicy{Limits: []throttle.Limit{throttle.Tokens(60, time.Minute).Using(throttle.TokenBucket)}},
			throttle.Tokens(100_000, time.Minute).Using(throttle.TokenBucket),
		)}
		a, b := newThrottle(t, cfg), newThrottle(t, cfg)
		c := of("a")
		c.Cost.InputTokens = 50
		goes(t, a, context.Background(), c).Done()
		ctx, cancel := context.WithCancel(context.Background())
		big := c
		big.Cost.InputTokens = 60
		go func() { _, _ = a.Acquire(ctx, big) }() // needs 50 seconds
		time.Sleep(time.Millisecond)
		began := time.Now()
		time.AfterFunc(10*time.Second, cancel)
		c.Cost.InputTokens = 5
		goes(t, b, context.Background(), c).Done()
		if took := time.Since(began); took < 10*time.Second || took > 10*time.Second+100*time.Millisecond {
			t.Errorf("it went after %v, want 10 s", took)
		}
	})
}

// What a tenant's own call gives back, its waiting ones use at once.
func TestRoomGivenBackToATenantIsUsedAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: sharedBy(
			throttle.TenantPolicy{Limits: []throttle.Limit{throttle.Tokens(60, time.Minute).Using(throttle.TokenBucket)}},
			throttle.Tokens(100_000, time.Minute).Using(throttle.TokenBucket),
		)})
		c := of("a")
		c.Cost.InputTokens = 50
		p := goes(t, th, context.Background(), c)
		began := time.Now()
		time.AfterFunc(10*time.Second, p.Cancel)
		goes(t, th, context.Background(), c).Done()
		if took := time.Since(began); took < 10*time.Second || took > 10*time.Second+5*time.Millisecond {
			t.Errorf("it went after %v, want 10 s", took)
		}
	})
}

// Whatever comes and goes: no tenant is ever above its limits, nor all together,
// nobody waits for ever, and nothing is left.
func TestRandomTenantsKeepTheirLimitsAndAllGo(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(seed, 7))
				store := throttle.NewMemoryStore()
				policy := throttle.TenantPolicy{Share: 0.3, Max: rnd.IntN(12), Weight: func(id string) int { return len(id) }}
				if seed%2 == 0 {
					policy.Limits = []throttle.Limit{throttle.Requests(5, time.Second)}
				}
				cfg := throttle.Config{Store: store, Lanes: patient(), QueueLimit: 1000, Budgets: sharedBy(policy, throttle.Tokens(1000, time.Second).Using(throttle.FixedWindow))}
				throttles := []*throttle.Throttle{newThrottle(t, cfg), newThrottle(t, cfg), newThrottle(t, cfg)}
				time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
				began := time.Now()
				var mu sync.Mutex
				spent := map[string]map[int]int64{} // by tenant and second
				var wg sync.WaitGroup
				for range 300 {
					th, tenant, n := throttles[rnd.IntN(3)], string(rune('a'+rnd.IntN(6))), 1+rnd.Int64N(250)
					patience := time.Hour
					if rnd.IntN(5) == 0 {
						patience = time.Duration(1+rnd.IntN(3000)) * time.Millisecond
					}
					cancels := rnd.IntN(6) == 0
					wg.Go(func() {
						ctx, cancel := context.WithTimeout(context.Background(), patience)
						defer cancel()
						if cancels {
							time.AfterFunc(patience/2, cancel)
						}
						c := of(tenant)
						c.Cost.InputTokens = n
						p, err := th.Acquire(ctx, c)
						if err != nil {
							if ctx.Err() == nil && patience == time.Hour {
								t.Errorf("tenant %s: %v", tenant, err)
							}
							return
						}
						at := int(time.Since(began) / time.Second)
						mu.Lock()
						for _, id := range []string{tenant, "all"} {
							if spent[id] == nil {
								spent[id] = map[int]int64{}
							}
							spent[id][at] += n
						}
						mu.Unlock()
						p.Done()
					})
					time.Sleep(time.Duration(rnd.IntN(20)) * time.Millisecond)
				}
				wg.Wait()
				for id, seconds := range spent {
					if id != "all" && policy.Max > 0 && policy.Max < 6 {
						continue // what one process tells apart another may not
					}
					for at, n := range seconds {
						if most := map[bool]int64{true: 1000, false: 300}[id == "all"]; n > most {
							t.Errorf("tenant %s spent %d in second %d, want at most %d", id, n, at, most)
						}
					}
				}
				if took := time.Since(began); took > 3*time.Minute {
					t.Errorf("all were through after %v", took)
				}
				for _, th := range throttles {
					if b := statusOf(t, th); b.Waiting != 0 {
						t.Errorf("%d wait", b.Waiting)
					}
				}
			})
		})
	}
}
