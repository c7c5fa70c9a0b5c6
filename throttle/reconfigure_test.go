package throttle_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/throttle"
)

// endless are lanes of which the first waits as long as it takes.
func endless() []lanes.Lane {
	return []lanes.Lane{{Name: "live", Share: 1, Wait: -1}, {Name: "now", Share: 1}}
}

// admittedNow counts how many of n calls go without waiting.
func admittedNow(t *testing.T, th *throttle.Throttle, n int) int {
	t.Helper()
	went := 0
	for range n {
		if p, err := tryNow(t, th, call()); err == nil {
			went++
			p.Done()
		}
	}
	return went
}

func TestNewLimitsHoldAtOnceAndCountersAreKept(t *testing.T) { // B159
	for _, tt := range []struct{ before, after, used, want int64 }{
		{10, 1000, 10, 990},
		{1000, 10, 5, 5},
		{1000, 10, 500, 0},
	} {
		t.Run(fmt.Sprintf("%d to %d", tt.before, tt.after), func(t *testing.T) {
			eachStore(t, func(t *testing.T, fl fleet) {
				th := newThrottle(t, throttle.Config{
					Store: fl.open(t), Lanes: patient(), Budgets: budget(throttle.Requests(tt.before, 24*time.Hour)),
				})
				if n := admittedNow(t, th, int(tt.used)); n != int(tt.used) {
					t.Fatalf("%d calls of %d went", n, tt.used)
				}
				if err := th.SetBudgets(budget(throttle.Requests(tt.after, 24*time.Hour))); err != nil {
					t.Fatal(err)
				}
				if n := admittedNow(t, th, 1000); n != int(tt.want) {
					t.Errorf("%d more calls went, want %d", n, tt.want)
				}
			})
		})
	}
}

func TestWaitingCallsAreJudgedByTheNewLimitsAtOnceInTheirOrder(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: endless(), Budgets: budget(throttle.Requests(1, time.Hour).Using(throttle.TokenBucket))})
		goes(t, th, context.Background(), call()).Done()
		start, a := time.Now(), newArrivals()
		var mu sync.Mutex
		var order []int
		for i := range 5 {
			go func() {
				goes(t, th, context.Background(), call()).Done()
				a.note()
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			}()
			synctest.Wait()
			time.Sleep(time.Second)
		}
		// One a second, from a bucket that is empty.
		if err := th.SetBudgets(budget(throttle.Requests(3600, time.Hour).Using(throttle.TokenBucket).WithBurst(1))); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if fmt.Sprint(order) != "[0 1 2 3 4]" {
			t.Errorf("the calls went in the order %v", order)
		}
		if all := a.all(); len(all) == 5 && all[4] > time.Since(start)-50*time.Second {
			t.Errorf("the last went after %v", all[4])
		}
	})
}

func TestAWaitingCallFollowsItsModelToAnotherBudget(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{Lanes: endless(), Budgets: budget(throttle.Requests(1, time.Hour))})
		goes(t, th, context.Background(), call()).Done()
		went := make(chan error, 1)
		go func() {
			p, err := th.Acquire(context.Background(), call())
			p.Done()
			went <- err
		}()
		synctest.Wait()
		if err := th.SetBudgets([]throttle.Budget{{Name: "all", Models: []string{"*"}, Limits: []throttle.Limit{throttle.Requests(5, time.Hour)}}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case err := <-went:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Error("the call still waits")
		}
	})
}

func TestBudgetsThatAreWrongChangeNothing(t *testing.T) {
	th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: budget(throttle.Requests(2, time.Hour))})
	err := th.SetBudgets([]throttle.Budget{{Models: []string{model}, Limits: []throttle.Limit{throttle.Requests(-1, time.Hour)}}})
	if err == nil || !strings.Contains(err.Error(), "Budgets[0].Limits[0].Amount") {
		t.Errorf("error: %v", err)
	}
	if n := admittedNow(t, th, 10); n != 2 {
		t.Errorf("%d calls of two went", n)
	}
	_ = th.Close()
	if err := th.SetBudgets(nil); !errors.Is(err, throttle.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestACallThatIsOutIsSettledWhereItWasCharged(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{Store: fl.open(t), Lanes: endless(), Budgets: budget(throttle.Tokens(100, 24*time.Hour))})
		p := goes(t, th, context.Background(), tokens(80))
		if err := th.SetBudgets(budget(throttle.Tokens(200, 24*time.Hour), throttle.Requests(50, 24*time.Hour))); err != nil {
			t.Fatal(err)
		}
		p.Settle(throttle.Cost{InputTokens: 10})
		// 190 are left, once the correction has arrived: alone, after 20 ms.
		goes(t, th, context.Background(), tokens(185)).Done()
		if _, err := tryNow(t, th, tokens(10)); !errors.Is(err, throttle.ErrBudget) {
			t.Errorf("ten more than there are: %v", err)
		}
	})
}

func TestLeasesGoBackBeforeALimitIsLowered(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{
			Store: fl.open(t), Lanes: endless(), Lease: leasing.Policy{Chunk: 20, MaxAge: time.Minute},
			Budgets: budget(throttle.Requests(100, 24*time.Hour)),
		})
		goes(t, th, context.Background(), call()).Done() // and 20 are leased
		if err := th.SetBudgets(budget(throttle.Requests(10, 24*time.Hour))); err != nil {
			t.Fatal(err)
		}
		went := 0
		for range 9 {
			goes(t, th, context.Background(), call()).Done() // waits for the return
			went++
		}
		if n := admittedNow(t, th, 20); n != 0 {
			t.Errorf("%d calls of ten went", 1+went+n)
		}
	})
}

// The model's budget changes all the time under two hundred callers who wait,
// cancel and go. Nobody is lost, and what was charged is what went.
func TestBudgetsChangeUnderLoad(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		th := newThrottle(t, throttle.Config{
			Lanes:   []lanes.Lane{{Name: "live", Share: 1, Wait: 3 * time.Second}, {Name: "now", Share: 1}},
			Budgets: budget(throttle.Requests(100, time.Hour)), Lease: leasing.Policy{Chunk: 5},
		})
		var wg sync.WaitGroup
		var mu sync.Mutex
		went := 0
		for i := range 200 {
			wg.Go(func() {
				for j := range 10 {
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+(i*7+j*13)%40)*100*time.Millisecond)
					if p, err := th.Acquire(ctx, call()); err == nil {
						mu.Lock()
						went++
						mu.Unlock()
						p.Done()
					} else if !errors.Is(err, throttle.ErrDenied) {
						t.Errorf("caller %d: %v", i, err)
					}
					cancel()
				}
			})
		}
		for i := range 100 {
			time.Sleep(50 * time.Millisecond)
			if err := th.SetBudgets(budget(throttle.Requests(int64(100+10*i), time.Hour))); err != nil {
				t.Error(err)
			}
		}
		wg.Wait()
		time.Sleep(time.Minute) // leases and the last settlements go back
		synctest.Wait()
		s, err := th.Status(context.Background())
		if err != nil || s.Waiting != 0 || len(s.Budgets) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		if l := s.Budgets[0].Limits[0]; l.Used != int64(went) || l.Amount != 1090 {
			t.Errorf("%d of %d are used, %d calls went", l.Used, l.Amount, went)
		}
	})
}
