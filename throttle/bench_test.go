package throttle

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/redis/go-redis/v9"
)

// BenchmarkAcquire takes and settles calls of one budget with a request and a
// token limit, under an account limit, by as many goroutines as its name says.
// claims/op is how many round trips a call took.
func BenchmarkAcquire(b *testing.B) {
	server := redistest.Start(b)
	for _, where := range []string{"memory", "redis"} {
		for _, callers := range []int{1, 64, 512} {
			b.Run(fmt.Sprintf("%s/%d", where, callers), func(b *testing.B) {
				store := &countingStore{Store: NewMemoryStore()}
				if where == "redis" {
					store.Store = redisStoreOn(b, server)
				}
				th := testThrottle(b, Config{Store: store, Budgets: testBudget(
					Requests(MaxAmount, time.Minute), Tokens(MaxAmount, time.Minute),
				), Account: []Limit{Requests(MaxAmount, time.Hour)}})
				acquire(b, th, 8) // connections, scripts
				store.claims.Store(0)
				b.ReportAllocs()
				b.ResetTimer()
				var wg sync.WaitGroup
				for i := range callers {
					wg.Go(func() { acquire(b, th, b.N*(i+1)/callers-b.N*i/callers) })
				}
				wg.Wait()
				b.ReportMetric(float64(store.claims.Load())/float64(b.N), "claims/op")
			})
		}
	}
}

func acquire(b *testing.B, th *Throttle, n int) {
	c := testCall
	c.Cost = Cost{InputTokens: 100, OutputTokens: 20}
	for range n {
		p, err := th.Acquire(context.Background(), c)
		if err != nil {
			b.Error(err)
			return
		}
		p.Settle(Cost{InputTokens: 90, OutputTokens: 30})
	}
}

// BenchmarkEvalsha is the floor: the client's own EVALSHA of a script that
// raises two counters.
func BenchmarkEvalsha(b *testing.B) {
	client := redistest.Start(b).Client(b)
	script := redis.NewScript(`return {redis.call('INCR', KEYS[1]), redis.call('INCRBY', KEYS[2], ARGV[1])}`)
	if err := script.Load(context.Background(), client).Err(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := script.EvalSha(context.Background(), client, []string{"{k}a", "{k}b"}, 100).Err(); err != nil {
			b.Fatal(err)
		}
	}
}
