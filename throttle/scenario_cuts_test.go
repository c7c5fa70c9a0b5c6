package throttle

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/faultproxy"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/lanes"
	"github.com/redis/go-redis/v9"
)

// Whatever connection breaks at whatever moment, and whatever expires between
// two claims: no key is left without an expiry, and nobody is refused for ever.
func TestAThousandCutsLeaveNoKeyWithoutAnExpiry(t *testing.T) { // B126
	server := redistest.Start(t)
	proxy := faultproxy.New(t, server.Addr)
	client := redis.NewClient(&redis.Options{Addr: proxy.Addr})
	t.Cleanup(func() { _ = client.Close() })
	store := storeOn(t, client)
	// Windows that end between one claim and the next.
	short := []Limit{
		Requests(4, 2*time.Millisecond), Tokens(9, 3*time.Millisecond).Using(SlidingLog), InputTokens(9, 5*time.Millisecond).Using(TokenBucket),
		OutputTokens(4, 4*time.Millisecond).Using(FixedWindow), Points(9, time.Millisecond).Using(GCRA),
	}
	limits := compileLimits(short, lanes.Default(), "k")
	random := &claimMaker{rand: rand.New(rand.NewPCG(1, 1)), account: "k", limits: limits, own: len(limits), lanes: 2, gens: map[int]float64{}}
	plain := claim{account: "k", budget: "plain", limits: limits, own: len(limits), keys: []Fingerprint{"k"}, models: []modelID{""}}
	plain.runs = []run{{n: 1, cost: []float64{1, 1, 1, 1, 1}}}
	for cut := range 1000 {
		c := random.next()
		cutDuring(proxy, cut, func() {
			if a, err := store.claim(context.Background(), &c); err == nil {
				random.remember(&c, &a)
			}
			_, _ = store.claim(context.Background(), &plain)
		})
		if cut%10 > 0 {
			continue
		}
		if keys := server.KeysWithoutExpiry(t); len(keys) > 0 {
			t.Fatalf("keys without an expiry after cut %d: %q", cut, keys)
		}
	}
	proxy.Pass()
	for deadline := time.Now().Add(10 * time.Second); ; { // until the windows are over
		if a, err := store.claim(context.Background(), &plain); err == nil && a.outcomes[0][0].code == granted {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("after the last cut nothing goes any more")
		}
	}
}

// cutDuring cuts connections while f runs: ahead of a claim, behind it, or
// anywhere.
func cutDuring(proxy *faultproxy.Proxy, which int, f func()) {
	var wg sync.WaitGroup
	switch which % 3 {
	case 0:
		proxy.CutReplies(1, claimHash)
	case 1:
		proxy.CutRequests(1, claimHash)
	default:
		wg.Go(func() { proxy.CutAll() })
	}
	f()
	wg.Wait()
}
