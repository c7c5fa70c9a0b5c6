package throttle

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/leasing"
)

// BenchmarkLeased takes and settles calls that leases cover, by as many
// goroutines as its name says, beside the floor of a lock and a clock.
func BenchmarkLeased(b *testing.B) {
	for _, callers := range []int{1, 64, 512} {
		b.Run(fmt.Sprintf("lease/%d", callers), func(b *testing.B) {
			th := testThrottle(b, Config{
				Budgets: testBudget(Requests(MaxAmount, time.Hour), Tokens(MaxAmount, time.Hour)),
				Account: []Limit{Requests(MaxAmount, time.Hour)}, Lease: leasing.Policy{Chunk: 1e6},
			})
			acquire(b, th, 8)
			share(b, callers, func(n int) { acquire(b, th, n) })
		})
		b.Run(fmt.Sprintf("floor/%d", callers), func(b *testing.B) {
			var mu sync.Mutex
			var last time.Time
			share(b, callers, func(n int) {
				for range n {
					mu.Lock()
					last = time.Now()
					mu.Unlock()
				}
			})
			_ = last
		})
	}
}

func share(b *testing.B, callers int, run func(n int)) {
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() { run(b.N*(i+1)/callers - b.N*i/callers) })
	}
	wg.Wait()
}
