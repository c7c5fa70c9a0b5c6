package throttle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/lanes"
)

func tenantBudget(p TenantPolicy, limits ...Limit) []Budget {
	return []Budget{{Models: []string{"m"}, Limits: limits, Tenants: p}}
}

// chargedTo is what a tenant's record says that its calls cost.
func chargedTo(m *MemoryStore, tenant string) float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.accounts["k"].tenants[memoryTenant{"m", tenantName(tenant)}]
	if r == nil {
		return 0
	}
	return r.counts[0].current
}

// Whatever is lost, in the end every tenant has been charged exactly what was
// sent for it.
func TestLostClaimsNeverChangeATenantsSum(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			memory := NewMemoryStore()
			var mu sync.Mutex // of sums
			flaky, calmDown := unlucky(memory, seed, 14)
			th := testThrottle(t, Config{
				Store: &remoteStore{countingStore{Store: flaky}}, Lanes: noWait,
				Outage:  []Outage{OutageLocal, OutageOpen, OutageClosed}[seed%3],
				Budgets: tenantBudget(TenantPolicy{Share: 0.5}, Tokens(MaxAmount, 24*time.Hour)),
			})
			sums := map[string]int64{}
			var wg sync.WaitGroup
			for i := range uint64(5) {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(seed, 20+i))
					for range 60 {
						c := testCall
						c.Tenant = []string{"", "a", "b", "c"}[r.IntN(4)]
						c.Cost.InputTokens = 1 + r.Int64N(100)
						ctx, leave := context.WithCancel(context.Background())
						if r.IntN(4) == 0 { // while its claim is under way
							time.AfterFunc(time.Duration(r.IntN(20))*time.Millisecond, leave)
						}
						p, err := th.Acquire(ctx, c)
						leave()
						if err != nil {
							time.Sleep(10 * time.Millisecond)
							continue
						}
						actual, cancel := r.Int64N(150), r.IntN(4) == 0
						if cancel {
							actual = 0
						}
						mu.Lock()
						sums[c.Tenant] += actual
						mu.Unlock()
						hold := time.Duration(r.IntN(200)) * time.Millisecond
						wg.Go(func() {
							time.Sleep(hold)
							if cancel {
								p.Cancel()
								return
							}
							p.Settle(Cost{InputTokens: actual})
						})
					}
				})
			}
			wg.Wait()
			calmDown()
			time.Sleep(time.Minute)
			synctest.Wait()
			all := int64(0)
			for tenant, sum := range sums {
				all += sum
				if got := chargedTo(memory, tenant); tenant != "" && got != float64(sum) {
					t.Errorf("seed %d: %v is charged to tenant %q, want %d", seed, got, tenant, sum)
				}
			}
			if got := charged(memory, "k", "m"); got != float64(all) {
				t.Errorf("seed %d: %v is charged, want %d", seed, got, all)
			}
		})
	}
}

// slowly makes each claim of a store take its time.
func slowly(s Store, took func() time.Duration) Store {
	return &remoteStore{countingStore{Store: &flakyStore{s, func() fate {
		time.Sleep(took())
		return arrives
	}}}}
}

// Claims that carry many tenants' calls at once, from several processes, keep
// every limit and bring everybody through.
func TestTenantsShareClaims(t *testing.T) {
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := NewMemoryStore()
				var mu sync.Mutex
				rnd := rand.New(rand.NewPCG(seed, 30))
				latency := func() time.Duration {
					mu.Lock()
					defer mu.Unlock()
					return time.Duration(rnd.IntN(8000)) * time.Microsecond
				}
				ls := []lanes.Lane{{Name: "live", Share: 1, Wait: time.Hour}, {Name: "low", Share: 0.8, Wait: time.Hour}}
				cfg := Config{Lanes: ls, Budgets: tenantBudget(
					TenantPolicy{Share: 0.2, Limits: []Limit{Tokens(6000, 10*time.Second).Using(FixedWindow)}}, Requests(50, time.Second).Using(FixedWindow),
				)}
				var throttles []*Throttle
				for range 3 {
					cfg.Store = slowly(store, latency)
					throttles = append(throttles, testThrottle(t, cfg))
				}
				went := map[string]int{} // by tenant and second of the store
				var wg sync.WaitGroup
				for i := range 900 {
					r := rand.New(rand.NewPCG(seed, 100+uint64(i)))
					tenant, th, c := fmt.Sprint("t", r.IntN(12)), throttles[r.IntN(3)], testCall
					if r.IntN(3) == 0 {
						tenant = "t0"
					}
					start := time.Duration(r.IntN(5000)) * time.Millisecond
					c.Tenant, c.Lane, c.Cost.InputTokens = tenant, ls[r.IntN(2)], r.Int64N(100)
					wg.Go(func() {
						time.Sleep(start)
						p, err := th.Acquire(context.Background(), c)
						if err != nil {
							t.Error(err)
							return
						}
						info, _ := p.look()
						mu.Lock()
						went[fmt.Sprint(tenant, " ", int64(info.at/1e6))]++
						went[fmt.Sprint("all ", int64(info.at/1e6))]++
						mu.Unlock()
						p.Done()
					})
				}
				began := time.Now()
				wg.Wait()
				for what, n := range went {
					if all := strings.HasPrefix(what, "all"); all && n > 50 || !all && n > 10 {
						t.Errorf("%s: %d calls went", what, n)
					}
				}
				// t0 alone has about 350 calls, of ten a second.
				if took := time.Since(began); took > 60*time.Second {
					t.Errorf("all were through after %v", took)
				}
			})
		})
	}
}

// One customer's ten thousand jobs cost another's call one turn, and the claims
// that carry them little.
func TestTenThousandJobsOfOneTenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ls := []lanes.Lane{{Name: "live", Share: 1, Wait: -1}}
		store := slowly(NewMemoryStore(), func() time.Duration { return time.Millisecond })
		th := testThrottle(t, Config{Store: store, Lanes: ls, Budgets: tenantBudget(
			TenantPolicy{Share: 1}, Requests(10, time.Second).Using(TokenBucket).WithBurst(1),
		)})
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 10_000 {
			wg.Go(func() {
				c := testCall
				c.Tenant = "many"
				p, err := th.Acquire(ctx, c)
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				p.Done()
			})
		}
		time.Sleep(5 * time.Second)
		if s, _ := th.Status(ctx); s.Waiting < 9900 {
			t.Fatalf("%d wait", s.Waiting)
		}
		for i := range 20 {
			began := time.Now()
			c := testCall
			c.Tenant = fmt.Sprint("few", i)
			p, err := th.Acquire(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			p.Done()
			if took := time.Since(began); took > 350*time.Millisecond {
				t.Errorf("the %d. call of another tenant waited %v", i, took)
			}
		}
		cancel()
		wg.Wait()
	})
}

// While the store is away, a tenant has its share of this process's part.
func TestATenantsShareHoldsDuringAnOutage(t *testing.T) {
	c := Config{Instances: 4, Lanes: noWait, Budgets: tenantBudget(TenantPolicy{Share: 0.4}, Requests(100, 24*time.Hour))}
	th, s, started, _ := outageThrottle(t, c)
	s.Stop(t)
	went := func(tenant string) (n int) {
		for range 30 {
			call := testCall
			call.Tenant = tenant
			if p, err := th.Acquire(context.Background(), call); err == nil {
				n++
				p.Done()
			}
		}
		return n
	}
	if a, b, c := went("a"), went("b"), went("c"); a != 10 || b != 10 || c != 5 {
		t.Errorf("%d, %d and %d calls of three tenants went, want 10, 10 and the 5 that are left", a, b, c)
	}
	<-started
}

// Every key of a tenant is in the account's hash tag, and expires.
func TestTenantsKeysAreEscapedAndExpire(t *testing.T) {
	server := redistest.Start(t)
	client := server.Client(t)
	store, err := NewRedisStore(client, RedisOptions{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	th := testThrottle(t, Config{Store: store, Lanes: noWait, Budgets: tenantBudget(TenantPolicy{Share: 0.5, Max: 3}, Requests(100, time.Hour))})
	for _, tenant := range []string{"", "a b", "{x}", "模", "one", "too many"} {
		c := testCall
		c.Tenant = tenant
		if p, err := th.Acquire(context.Background(), c); err != nil {
			t.Error(err)
		} else {
			p.Done()
		}
	}
	for _, want := range []string{"a%20b", "%7bx%7d", "%e6%a8%a1", ""} {
		key := "headgate:{k}:t:m"
		if want != "" {
			key += ":" + want
		}
		ttl, err := client.PTTL(context.Background(), key).Result()
		if err != nil || ttl <= time.Minute || ttl > 3*time.Hour {
			t.Errorf("%s expires in %v, %v", key, ttl, err)
		}
	}
	if n := client.Exists(context.Background(), "headgate:{k}:t:m:one").Val(); n != 0 {
		t.Error("a fourth tenant has a key of its own")
	}
}
