package throttle_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// waiting returns once so many calls of the throttle wait for their turn.
func waiting(th *throttle.Throttle, n int) {
	for {
		if s, _ := th.Status(context.Background()); s.Waiting == n {
			return
		}
		runtime.Gosched()
	}
}

// processes are throttles on stores of one fleet.
func processes(t *testing.T, fl fleet, n int, c throttle.Config) []*throttle.Throttle {
	t.Helper()
	var all []*throttle.Throttle
	for range n {
		c.Store = fl.open(t)
		all = append(all, newThrottle(t, c))
	}
	return all
}

func TestCallsOfThreeProcessesGoInTheOrderInWhichTheyCame(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		fleet := processes(t, fl, 3, throttle.Config{
			Budgets: budget(throttle.Requests(4, time.Second).Using(throttle.TokenBucket).WithBurst(1)), Lanes: patient(),
		})
		goes(t, fleet[0], context.Background(), call()).Done()
		went := make(chan int, 6)
		for i := range cap(went) {
			go func() {
				goes(t, fleet[i*i%3], context.Background(), call()).Done()
				went <- i
			}()
			time.Sleep(60 * time.Millisecond) // more than the order's tolerance
		}
		var order []int
		for range cap(went) {
			order = append(order, <-went)
		}
		if !slices.IsSorted(order) {
			t.Errorf("calls went in the order %v", order)
		}
		everyKeyExpires(t, fl)
	})
}

func TestTheRoomOfACancelledWaitIsUsedByAnotherProcess(t *testing.T) {
	for _, account := range []bool{false, true} {
		t.Run(fmt.Sprint("account ", account), func(t *testing.T) {
			eachStore(t, func(t *testing.T, fl fleet) {
				c := throttle.Config{Lanes: []lanes.Lane{{Name: "live", Share: 1, Wait: -1}}}
				if limit := throttle.Tokens(100, 24*time.Hour); account {
					c.Account = []throttle.Limit{limit}
				} else {
					c.Budgets = budget(limit)
				}
				fleet := processes(t, fl, 2, c)
				goes(t, fleet[0], context.Background(), tokens(50)).Done()
				ctx, cancel := context.WithCancel(context.Background())
				go func() { _, _ = fleet[0].Acquire(ctx, tokens(90)) }()
				waiting(fleet[0], 1)
				went := make(chan struct{})
				go func() {
					goes(t, fleet[1], context.Background(), tokens(20)).Done()
					close(went)
				}()
				waiting(fleet[1], 1)
				everyKeyExpires(t, fl)
				cancel()
				select {
				case <-went:
				case <-time.After(10 * time.Second): // by time alone it would be tomorrow
					t.Fatal("the room of a cancelled wait is not used")
				}
			})
		})
	}
}
