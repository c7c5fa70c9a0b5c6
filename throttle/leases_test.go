package throttle_test

import (
	"context"
	"testing"
	"time"

	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/throttle"
)

func TestALeaseIsSpentWithinTheBudget(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		th := newThrottle(t, throttle.Config{
			Store: fl.open(t), Budgets: budget(throttle.Requests(100, 24*time.Hour), throttle.Tokens(100_000, 24*time.Hour)),
			Lease: leasing.Policy{Chunk: 10}, Lanes: patient(),
		})
		n := 0
		for range 200 {
			p, err := tryNow(t, th, tokens(10))
			if err != nil {
				continue
			}
			n++
			p.Settle(throttle.Cost{InputTokens: 10})
		}
		if n != 100 {
			t.Errorf("%d calls of 100 went", n)
		}
		_ = context.Background()
	})
}
