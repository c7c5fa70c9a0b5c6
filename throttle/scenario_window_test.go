package throttle_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// A vendor counts for itself, and refuses what is too much by its own count.
type vendor struct {
	mu       sync.Mutex
	rolling  bool // exactly, over every window; else a bucket of a second's worth
	amount   int
	per      time.Duration
	log      []time.Time
	level    float64
	at       time.Time
	accepted int
	refused  int
}

func (v *vendor) receive() {
	v.mu.Lock()
	defer v.mu.Unlock()
	now, ok := time.Now(), false
	if v.rolling {
		for len(v.log) > 0 && now.Sub(v.log[0]) >= v.per {
			v.log = v.log[1:]
		}
		if ok = len(v.log) < v.amount; ok {
			v.log = append(v.log, now)
		}
	} else {
		perSecond := float64(v.amount) / v.per.Seconds()
		if v.at.IsZero() {
			v.level, v.at = perSecond, now
		}
		v.level, v.at = min(perSecond, v.level+perSecond*now.Sub(v.at).Seconds()), now
		if ok = v.level >= 1-1e-9; ok {
			v.level--
		}
	}
	if ok {
		v.accepted++
	} else {
		v.refused++
	}
}

// saturate has callers send to the vendor as fast as the throttle lets them,
// each call after a way of at most jitter.
func saturate(t *testing.T, th *throttle.Throttle, v *vendor, lasts, jitter time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), lasts)
	defer cancel()
	luck := rand.New(rand.NewPCG(1, 2))
	var mu sync.Mutex
	way := func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(luck.Int64N(int64(jitter) + 1))
	}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			for {
				p, err := th.Acquire(ctx, call())
				if err != nil {
					return
				}
				time.Sleep(way())
				v.receive()
				p.Done()
			}
		})
	}
	wg.Wait()
}

func TestAVendorThatCountsARollingMinuteRefusesNothing(t *testing.T) { // B115
	minute := throttle.Requests(60, time.Minute)
	for _, tt := range []struct {
		limit   throttle.Limit
		refuses bool
	}{
		{minute.Using(throttle.SlidingLog), false},
		{minute.Using(throttle.GCRA).WithBurst(1), false},
		{minute.Using(throttle.TokenBucket).WithBurst(1), false},
		{minute.Using(throttle.TokenBucket), true}, // a burst of the whole, and the refill: the vendor isn't blind
	} {
		inBubble(t, func(t *testing.T) {
			th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: budget(tt.limit)})
			v := &vendor{rolling: true, amount: 60, per: time.Minute}
			goes(t, th, context.Background(), call()).Done()
			time.Sleep(5 * time.Minute)
			saturate(t, th, v, 3*time.Minute, 0)
			if (v.refused > 0) != tt.refuses {
				t.Errorf("%v, burst %d: the vendor refused %d and accepted %d", tt.limit.Algorithm, tt.limit.Burst, v.refused, v.accepted)
			}
			if !tt.refuses && v.accepted < 2*60 {
				t.Errorf("%v: only %d went in three minutes", tt.limit.Algorithm, v.accepted)
			}
		})
	}
}

func TestAVendorThatCountsByTheSecondRefusesOneInAHundredAtMost(t *testing.T) { // B117
	for _, burst := range []int64{1, 10} {
		inBubble(t, func(t *testing.T) {
			th := newThrottle(t, throttle.Config{
				Lanes: patient(), Budgets: budget(throttle.Requests(600, time.Minute).Using(throttle.TokenBucket).WithBurst(burst)),
			})
			v := &vendor{amount: 600, per: time.Minute}
			saturate(t, th, v, time.Minute, 30*time.Millisecond)
			if v.refused*100 > v.accepted {
				t.Errorf("burst %d: the vendor refused %d and accepted %d", burst, v.refused, v.accepted)
			}
			if v.accepted < 600*95/100 {
				t.Errorf("burst %d: only %d of 600 went", burst, v.accepted)
			}
		})
	}
}

func TestAFleetThatWakesUpAtOnceStaysWithinTheLimit(t *testing.T) { // B123
	eachStore(t, func(t *testing.T, fl fleet) {
		var fleet []*throttle.Throttle
		for range 4 {
			fleet = append(fleet, newThrottle(t, throttle.Config{
				Store: fl.open(t), Lanes: patient(), Budgets: budget(throttle.Requests(40, 24*time.Hour)),
			}))
		}
		var went atomic.Int64
		try := func(th *throttle.Throttle) {
			if p, err := tryNow(t, th, call()); err == nil {
				went.Add(1)
				p.Done()
			}
		}
		for range 10 { // the first is warm, the others have seen nothing
			try(fleet[0])
		}
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() { try(fleet[i%len(fleet)]) })
		}
		wg.Wait()
		if n := went.Load(); n != 40 {
			t.Errorf("%d calls went, want 40", n)
		}
	})
}

func TestWhatOneProcessExhaustsIsGoneForAnotherAndComesBack(t *testing.T) { // B124
	for _, algorithm := range everyAlgorithm {
		inBubble(t, func(t *testing.T) {
			cfg := throttle.Config{
				Store: throttle.NewMemoryStore(), Lanes: patient(), Budgets: budget(throttle.Requests(10, time.Minute).Using(algorithm)),
			}
			first, second := newThrottle(t, cfg), newThrottle(t, cfg)
			for round := range 3 {
				for i := range 10 {
					if p, err := tryNow(t, first, call()); err != nil {
						t.Fatalf("%v: call %d of round %d: %v", algorithm, i, round, err)
					} else {
						p.Done()
					}
				}
				for range 5 {
					if p, err := tryNow(t, second, call()); err == nil {
						p.Done()
						t.Fatalf("%v: another process let an eleventh call through", algorithm)
					}
				}
				time.Sleep(2*time.Minute + time.Second)
				first, second = second, first
			}
		})
	}
}

func TestARefilledLimitIsRefilledOnRedisToo(t *testing.T) { // B124
	fl := redisFleet(t)
	cfg := throttle.Config{Lanes: patient()}
	for _, algorithm := range everyAlgorithm {
		cfg.Budgets = append(cfg.Budgets, throttle.Budget{
			Models: []string{algorithm.String()}, Limits: []throttle.Limit{throttle.Requests(5, 500*time.Millisecond).Using(algorithm)},
		})
	}
	a, b := cfg, cfg
	a.Store, b.Store = fl.open(t), fl.open(t)
	first, second := newThrottle(t, a), newThrottle(t, b)
	for _, algorithm := range everyAlgorithm {
		five := throttle.Call{Key: key, Model: algorithm.String(), Cost: throttle.Cost{Requests: 5}}
		if p, err := tryNow(t, first, five); err != nil {
			t.Fatalf("%v: %v", algorithm, err)
		} else {
			p.Done()
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		goes(t, second, ctx, five).Done() // when all of it is back
		cancel()
	}
}

func TestSteadyTrafficBelowTheLimitIsNeverRefused(t *testing.T) { // B125
	for _, algorithm := range everyAlgorithm {
		inBubble(t, func(t *testing.T) {
			th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: budget(throttle.Requests(120, time.Minute).Using(algorithm))})
			for i := range 600 {
				if p, err := tryNow(t, th, call()); err != nil {
					t.Fatalf("%v: the call of second %d: %v", algorithm, i, err)
				} else {
					p.Done()
				}
				time.Sleep(time.Second)
			}
		})
	}
}

func TestAWriteRenewsTheExpiryAndNotTheWindow(t *testing.T) { // B125
	fl := redisFleet(t)
	cfg := throttle.Config{Store: fl.open(t), Lanes: patient()}
	for _, algorithm := range everyAlgorithm {
		cfg.Budgets = append(cfg.Budgets, throttle.Budget{
			Models: []string{algorithm.String()}, Limits: []throttle.Limit{throttle.Requests(20, 100*time.Millisecond).Using(algorithm)},
		})
	}
	th := newThrottle(t, cfg)
	pace := time.NewTicker(20 * time.Millisecond) // five in each window of twenty
	defer pace.Stop()
	for i := range 50 {
		<-pace.C
		for _, algorithm := range everyAlgorithm {
			if p, err := tryNow(t, th, throttle.Call{Key: key, Model: algorithm.String()}); err != nil {
				t.Fatalf("%v: call %d: %v", algorithm, i, err)
			} else {
				p.Done()
			}
		}
	}
	everyKeyExpires(t, fl)
}

func TestABucketUnderContentionGivesNoMoreThanItsRate(t *testing.T) { // B120
	for _, algorithm := range []throttle.Algorithm{throttle.SlidingLog, throttle.TokenBucket} {
		t.Run(fmt.Sprint(algorithm), func(t *testing.T) { contend(t, throttle.Requests(10, time.Second).Using(algorithm)) })
	}
}

// contend has many goroutines want a call at once for half a second. A time
// that is read before the lock is older than the state that it meets.
func contend(t *testing.T, limit throttle.Limit) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	th := newThrottle(t, throttle.Config{Lanes: patient(), Budgets: budget(limit)})
	start := time.Now()
	var went atomic.Int64
	var wg sync.WaitGroup
	for range 2000 {
		wg.Go(func() {
			for time.Since(start) < 500*time.Millisecond {
				if p, err := tryNow(t, th, call()); err == nil {
					went.Add(1)
					p.Done()
				}
			}
		})
	}
	wg.Wait()
	if n, most := float64(went.Load()), 10*(time.Since(start).Seconds()+2); n > most || n < 10 {
		t.Errorf("%v of %s went, want ten and no more than %v", n, limit.Algorithm, most)
	}
}
