package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// sharedBy is a budget of some limits with a policy for tenants.
func sharedBy(p throttle.TenantPolicy, limits ...throttle.Limit) []throttle.Budget {
	return []throttle.Budget{{Models: []string{model}, Limits: limits, Tenants: p}}
}

// of is a call of a tenant.
func of(tenant string) throttle.Call {
	c := call()
	c.Tenant = tenant
	return c
}

func TestATenantHasItsShareOfEveryLimitAndNoMore(t *testing.T) {
	for _, algorithm := range everyAlgorithm {
		t.Run(algorithm.String(), func(t *testing.T) {
			eachStore(t, func(t *testing.T, fl fleet) {
				cfg := throttle.Config{Lanes: patient(), Budgets: sharedBy(
					throttle.TenantPolicy{Share: 0.29}, throttle.Requests(100, 24*time.Hour).Using(algorithm),
				)}
				a, b := cfg, cfg
				a.Store, b.Store = fl.open(t), fl.open(t)
				throttles := []*throttle.Throttle{newThrottle(t, a), newThrottle(t, b)}
				for _, tenant := range []string{"a", "b", "c", ""} {
					want := map[string]int{"a": 29, "b": 29, "c": 29, "": 13}[tenant]
					went := 0
					for i := range 40 {
						p, err := tryNow(t, throttles[i%2], of(tenant))
						if err == nil {
							went++
							p.Done()
							continue
						}
						e := deniedBy(t, p, err, throttle.ErrBudget)
						limit := "29 requests per 24h0m0s per tenant"
						if tenant == "" {
							limit = "100 requests per 24h0m0s"
						}
						if e.Limit != limit || e.RetryAfter <= 0 {
							t.Fatalf("tenant %q: %+v, want %s", tenant, e, limit)
						}
					}
					if went != want {
						t.Errorf("tenant %q: %d calls went, want %d", tenant, went, want)
					}
				}
				everyKeyExpires(t, fl)
			})
		})
	}
}

// Tenants' names are anything, and no two meet.
var strangeTenants = []string{"a", "=a", "#a", "~", "{a}", "a b", "模型", "\x00", "~\x01overflow", strings.Repeat("x", 500), strings.Repeat("x", 501), ":", "%", "a:b"}

func TestATenantsOwnLimitsAreItsOwn(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{Store: fl.open(t), Lanes: patient(), Budgets: sharedBy(
			throttle.TenantPolicy{Limits: []throttle.Limit{throttle.Requests(2, 24*time.Hour), throttle.Tokens(100, time.Hour)}},
			throttle.Requests(1000, 24*time.Hour),
		)})
		for _, tenant := range strangeTenants {
			ctx := throttle.WithTenant(context.Background(), tenant)
			c := tokens(60)
			c.Lane = lanes.Lane{Name: "now"}
			goes(t, th, ctx, c).Done()
			if e := denied(t, th, ctx, c, throttle.ErrBudget); e.Limit != "100 tokens per 1h0m0s per tenant" {
				t.Errorf("%q: %+v", tenant, e)
			}
			c.Cost.InputTokens = 40
			goes(t, th, ctx, c).Done()
			c.Cost.InputTokens = 0
			if e := denied(t, th, ctx, c, throttle.ErrBudget); e.Limit != "2 requests per 24h0m0s per tenant" {
				t.Errorf("%q: %+v", tenant, e)
			}
			c.Cost.InputTokens = 101
			if e := denied(t, th, ctx, c, throttle.ErrTooLarge); e.Limit != "100 tokens per 1h0m0s per tenant" {
				t.Errorf("%q: %+v", tenant, e)
			}
			deniedBy(t, throttle.Permit{}, th.Check(ctx, c), throttle.ErrTooLarge)
			c.Cost.InputTokens = 0
			deniedBy(t, throttle.Permit{}, th.Check(ctx, c), throttle.ErrBudget)
		}
		for range 10 { // without a tenant nothing but the budget counts
			goes(t, th, context.Background(), tokens(60)).Done()
		}
		if fitted := th.Fit(throttle.WithTenant(context.Background(), "a"), call(), throttle.Cost{OutputTokens: 1000}); fitted.OutputTokens != 100 {
			t.Errorf("a tenant's guess is fitted to %d, want 100", fitted.OutputTokens)
		}
		if fitted := th.Fit(context.Background(), call(), throttle.Cost{OutputTokens: 1000}); fitted.OutputTokens != 1000 {
			t.Errorf("nobody's guess is fitted to %d, want 1000", fitted.OutputTokens)
		}
		everyKeyExpires(t, fl)
	})
}

func TestOfShareAndLimitThatCountAlikeTheSmallerHolds(t *testing.T) {
	for _, tt := range []struct {
		share float64
		want  string
	}{{0.5, "5 requests per 24h0m0s per tenant"}, {0.9, "8 requests per 24h0m0s per tenant"}} {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: sharedBy(
			throttle.TenantPolicy{Share: tt.share, Limits: []throttle.Limit{throttle.Requests(8, 24*time.Hour)}},
			throttle.Requests(10, 24*time.Hour), throttle.InFlight(100),
		)})
		var err error
		for err == nil {
			_, err = tryNow(t, th, of("a"))
		}
		if e := deniedBy(t, throttle.Permit{}, err, throttle.ErrBudget); e.Limit != tt.want {
			t.Errorf("share %v: denied by %q, want %q", tt.share, e.Limit, tt.want)
		}
	}
}

// What a call gives back, its tenant gets back.
func TestATenantIsSettledLikeTheBudget(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		for i, tt := range []struct {
			end  func(throttle.Permit)
			used int64 // of 100, after 80
		}{
			{throttle.Permit.Done, 80},
			{throttle.Permit.Cancel, 0},
			{func(p throttle.Permit) { p.Settle(throttle.Cost{InputTokens: 10}) }, 10},
			{func(p throttle.Permit) { p.Settle(throttle.Cost{InputTokens: 95}) }, 95},
		} {
			b := sharedBy(throttle.TenantPolicy{Share: 0.5}, throttle.Tokens(200, 24*time.Hour), throttle.Requests(2000, 24*time.Hour).Using(throttle.TokenBucket))
			b[0].Name = fmt.Sprint("budget ", i)
			th := newThrottle(t, throttle.Config{Store: fl.open(t), Lanes: patient(), Budgets: b})
			c := of("a")
			c.Cost.InputTokens = 80
			tt.end(goes(t, th, context.Background(), c))
			free := int64(0)
			for low, high := int64(0), int64(100); low < high; free = low {
				c.Cost.InputTokens = (low + high + 1) / 2
				if p, err := tryNow(t, th, c); err == nil {
					p.Cancel()
					low = c.Cost.InputTokens
				} else {
					high = c.Cost.InputTokens - 1
				}
			}
			if used := 100 - free; used != tt.used {
				t.Errorf("budget %d: the tenant has used %d, want %d", i, used, tt.used)
			}
			c.Tenant, c.Cost.InputTokens = "b", 100
			goes(t, th, context.Background(), c).Cancel() // another has all of its own
		}
	})
}

func TestCallsOfATenantWaitForItsOwnLimit(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: sharedBy(
			throttle.TenantPolicy{Limits: []throttle.Limit{throttle.Requests(1, time.Second).Using(throttle.TokenBucket)}},
			throttle.Requests(100, time.Second).Using(throttle.TokenBucket),
		)})
		mine, others := newArrivals(), newArrivals()
		done := make(chan bool)
		for range 5 {
			go func() {
				goes(t, th, context.Background(), of("a")).Done()
				mine.note()
				done <- true
			}()
		}
		time.Sleep(10 * time.Millisecond)
		for i := range 50 { // of other tenants: nobody holds them up
			goes(t, th, context.Background(), of(fmt.Sprint(i))).Done()
			others.note()
		}
		for range 5 {
			<-done
		}
		for i, at := range mine.all() {
			if want := time.Duration(i) * time.Second; at < want || at > want+20*time.Millisecond {
				t.Errorf("call %d left after %v, want %v", i, at, want)
			}
		}
		if at := others.all(); at[len(at)-1] != 10*time.Millisecond {
			t.Errorf("the others left up to %v later", at[len(at)-1])
		}
	})
}

func TestATenantThatIsNotTriedInTimeIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ls := []lanes.Lane{{Name: "live", Share: 1, Wait: 2500 * time.Millisecond}}
		th := newThrottle(t, throttle.Config{Lanes: ls, Budgets: sharedBy(
			throttle.TenantPolicy{Limits: []throttle.Limit{throttle.Requests(1, time.Second).Using(throttle.TokenBucket)}},
			throttle.Requests(100, time.Second).Using(throttle.TokenBucket),
		)})
		errs := make(chan error, 5)
		for range 5 {
			go func() {
				_, err := th.Acquire(context.Background(), of("a"))
				errs <- err
			}()
		}
		refused := 0
		for range 5 {
			if err := <-errs; err != nil {
				refused++
				e := deniedBy(t, throttle.Permit{}, err, throttle.ErrBudget)
				if e.Limit != "1 requests per 1s per tenant" || e.RetryAfter != 3*time.Second {
					t.Errorf("%+v, want to come back in 3 s", e)
				}
			}
		}
		if refused != 2 {
			t.Errorf("%d were refused, want the two whose turn would come too late", refused)
		}
	})
}

func TestNoMoreTenantsAreToldApartThanMax(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: sharedBy(
			throttle.TenantPolicy{Max: 3, Limits: []throttle.Limit{throttle.Requests(2, time.Minute).Using(throttle.TokenBucket)}},
			throttle.Requests(1000, time.Minute),
		)})
		went := func(tenants ...string) (n int) {
			for _, id := range tenants {
				for range 3 {
					if p, err := tryNow(t, th, of(id)); err == nil {
						n++
						p.Done()
					}
				}
			}
			return n
		}
		if n := went("a", "b", "c"); n != 6 {
			t.Errorf("%d calls of three tenants went, want 6", n)
		}
		if n := went("d", "e", "f", "g"); n != 2 {
			t.Errorf("%d calls of those beyond went, want 2 of them together", n)
		}
		s := statusOf(t, th)
		overflow := 0
		for _, w := range s.Tenants {
			if w.Overflow {
				overflow++
			}
		}
		if len(s.Tenants) != 4 || overflow != 1 {
			t.Errorf("%d tenants are shown, %d overflows", len(s.Tenants), overflow)
		}
		time.Sleep(3 * time.Minute) // all are forgotten
		if n := went("d", "e", "f"); n != 6 {
			t.Errorf("%d calls went when others had been forgotten, want 6", n)
		}
	})
}

func TestStatusShowsTheTenantsThatUseMost(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{Store: fl.open(t), Lanes: patient(), Budgets: sharedBy(
			throttle.TenantPolicy{Share: 0.1}, throttle.Requests(1000, 24*time.Hour),
		)})
		for i := range 40 {
			for range i + 1 {
				goes(t, th, context.Background(), of(fmt.Sprint("tenant", i))).Done()
			}
		}
		s := statusOf(t, th)
		if len(s.Tenants) != 20 {
			t.Fatalf("%d tenants are shown, want 20", len(s.Tenants))
		}
		for i, w := range s.Tenants {
			used := int64(40 - i)
			if w.Tenant != fmt.Sprint("tenant", used-1) || w.Admitted != used || len(w.Limits) != 1 ||
				w.Limits[0].Used != used || w.Limits[0].Amount != 100 || w.Limits[0].Limit != "100 requests per 24h0m0s per tenant" {
				t.Errorf("the %d. is %+v", i, w)
			}
		}
	})
}

// A budget of tenants that has none is refused like any other.
func TestWithoutAPolicyATenantChangesNothing(t *testing.T) {
	th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: budget(throttle.Requests(1, time.Hour))})
	goes(t, th, context.Background(), of("a")).Done()
	if _, err := tryNow(t, th, of("b")); !errors.Is(err, throttle.ErrBudget) {
		t.Errorf("another tenant: %v", err)
	}
	if s := statusOf(t, th); s.Tenants != nil {
		t.Errorf("tenants: %+v", s.Tenants)
	}
}
