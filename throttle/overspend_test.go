package throttle

import (
	"context"
	"errors"
	"flag"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
)

// Fleets whose Redis hangs, once or again and again. They are under more load
// than their budgets let through all the while, and must not make more of them.

var (
	flapsFor  = flag.Duration("flaps.for", 8*time.Second, "for how long TestNoFleetOverspendsWhileRedisComesAndGoes has Redis come and go")
	flapEvery = flag.Duration("flaps.every", 400*time.Millisecond, "for how long Redis is there, and then away, each time")
)

// A hungryFleet is some throttles on one Redis, each a process of its own as far
// as Redis knows, and what went.
type hungryFleet struct {
	live      int
	server    *redistest.Server
	throttles []*Throttle
	outages   atomic.Int64
	day, rate atomic.Int64 // calls that went, of the budget for a day and of the bucket
	began     time.Time
}

// What each process adds to its fleet's budgets, and asks for.
const (
	hungryDay    = 150
	hungryRate   = 40
	hungryPer    = 2 * time.Second
	hungryEvery  = 10 * time.Millisecond // calls of one process for each of them
	hungryExcess = 10                    // percent
)

func newHungryFleet(t *testing.T, live int) *hungryFleet {
	t.Helper()
	f := &hungryFleet{live: live, server: redistest.Start(t)}
	for range live {
		store, err := NewRedisStore(f.server.Client(t), RedisOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		f.throttles = append(f.throttles, testThrottle(t, Config{
			Store: store, Lanes: noWait,
			Budgets: []Budget{
				{Models: []string{"day"}, Limits: []Limit{Requests(int64(hungryDay*live), 24*time.Hour).Using(FixedWindow)}},
				{Models: []string{"rate"}, Limits: []Limit{Requests(int64(hungryRate*live), hungryPer).Using(TokenBucket)}},
			},
			Observe: func(e Event) {
				if e.Kind == EventOutageStart {
					f.outages.Add(1)
				}
			},
		}))
	}
	for _, th := range f.throttles { // each has to know of all the others
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
			if _, n := th.store.fleet(); n == live {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("a process of %d doesn't know the others", live)
			}
		}
	}
	return f
}

// eats makes calls until the returned function is called.
func (f *hungryFleet) eats(t *testing.T) (stop func()) {
	f.began = time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for _, th := range f.throttles {
		wg.Go(func() {
			next := time.NewTicker(hungryEvery)
			defer next.Stop()
			for ctx.Err() == nil {
				for model, went := range map[string]*atomic.Int64{"day": &f.day, "rate": &f.rate} {
					p, err := th.Acquire(context.Background(), Call{Key: "k", Model: model})
					switch {
					case err == nil:
						went.Add(1)
					case !errors.Is(err, ErrBudget):
						t.Errorf("%d processes: %v", f.live, err)
					}
					p.Done()
				}
				<-next.C
			}
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// check compares what went with what the budgets let through in that time.
func (f *hungryFleet) check(t *testing.T, took time.Duration) {
	t.Helper()
	day := float64(hungryDay * f.live)
	rate := float64(hungryRate*f.live) * (1 + took.Seconds()/hungryPer.Seconds())
	for name, c := range map[string]struct{ went, most float64 }{"day": {float64(f.day.Load()), day}, "rate": {float64(f.rate.Load()), rate}} {
		t.Logf("%d processes, %d outages: %s: %.0f calls went, of %.0f: %+.1f %%", f.live, f.outages.Load(), name, c.went, c.most, 100*(c.went/c.most-1))
		if c.went > c.most*(100+hungryExcess)/100 {
			t.Errorf("%d processes: %s: %.0f calls went, want at most %.0f and %d %%", f.live, name, c.went, c.most, hungryExcess)
		}
		if c.went < c.most/2 {
			t.Errorf("%d processes: %s: only %.0f calls of %.0f went", f.live, name, c.went, c.most)
		}
	}
	if f.outages.Load() < int64(f.live) {
		t.Errorf("%d processes: %d outages", f.live, f.outages.Load())
	}
}

func TestNoFleetOverspendsWhileRedisComesAndGoes(t *testing.T) { // B89, B90, B91; rule 9
	var wg sync.WaitGroup
	for _, live := range []int{1, 4, 8} {
		for name, trouble := range map[string]func(*redistest.Server){
			"hangs once": func(s *redistest.Server) {
				time.Sleep(time.Second)
				s.Pause(t)
				time.Sleep(hungryPer * 3 / 2)
				s.Continue(t)
				time.Sleep(hungryPer)
			},
			"comes and goes": func(s *redistest.Server) {
				for start := time.Now(); time.Since(start) < *flapsFor; {
					time.Sleep(*flapEvery)
					s.Pause(t)
					time.Sleep(*flapEvery)
					s.Continue(t)
				}
			},
		} {
			f := newHungryFleet(t, live)
			wg.Go(func() {
				stop := f.eats(t)
				trouble(f.server)
				stop()
				t.Logf("Redis %s:", name)
				f.check(t, time.Since(f.began))
			})
		}
	}
	wg.Wait()
}
