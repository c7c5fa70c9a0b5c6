package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// manyWaiting: calls come to a budget without room, and all leave when there is.
// What each costs may grow with the logarithm of how many there are.
func (b *bench) manyWaiting() {
	sizes := []int{10, 100, 1000, 10_000, 100_000}
	if b.isQuick() {
		sizes = sizes[1:3]
	}
	comes, leaves := make([][]float64, len(sizes)), make([][]float64, len(sizes))
	for range min(b.rounds, 5) {
		for i, n := range sizes {
			come, leave := b.crowds(n)
			comes[i], leaves[i] = append(comes[i], come), append(leaves[i], leave)
		}
	}
	b.crowdGoal("a call comes", sizes, comes)
	b.crowdGoal("a call leaves", sizes, leaves)
}

func (b *bench) crowdGoal(what string, sizes []int, took [][]float64) {
	from, last := 0, len(sizes)-1
	if sizes[0] < 100 {
		from = 1 // with ten what is done once for all of them counts
	}
	why := ""
	for i, n := range sizes {
		why += fmt.Sprintf("%d: %.2f µs; ", n, median(took[i])/1e3)
	}
	log := math.Log(float64(sizes[last])) / math.Log(float64(sizes[from]))
	b.atMost("growth", fmt.Sprintf("%s, %d waiting against %d: O(log n)", what, sizes[last], sizes[from]),
		ratio(took[last], took[from]), log, "x", why[:len(why)-2])
}

// crowds has crowds of n come and leave, about a thousand calls at least, and
// returns how many nanoseconds a call took for each.
func (b *bench) crowds(n int) (come, leave float64) {
	times := max(1, 1000/n)
	runtime.GC()
	for range times {
		c, l := b.crowd(n)
		come, leave = come+float64(c)/float64(n*times), leave+float64(l)/float64(n*times)
	}
	return come, leave
}

func (b *bench) crowd(n int) (come, leave time.Duration) {
	t, err := throttle.New(throttle.Config{
		Budgets: []throttle.Budget{{Models: []string{"m"}, Limits: []throttle.Limit{
			throttle.Requests(int64(n), 24*time.Hour), throttle.Tokens(throttle.MaxAmount, time.Minute),
		}}},
		Account: []throttle.Limit{throttle.Requests(throttle.MaxAmount, time.Hour)},
		Lanes:   []lanes.Lane{{Name: "patient", Share: 1, Wait: -1}}, QueueLimit: n,
		Logger: slog.New(slog.DiscardHandler),
	})
	b.must(err)
	defer t.Close()
	all := throttle.Call{Key: key, Model: "m", Cost: throttle.Cost{Requests: int64(n)}}
	holder, err := t.Acquire(context.Background(), all)
	b.must(err)
	began := time.Now()
	var waiting sync.WaitGroup
	for range n {
		waiting.Go(func() { b.must(once(t, callOf("m"))) })
	}
	b.awaitWaiting(t, n)
	come = time.Since(began)
	began = time.Now()
	holder.Cancel()
	waiting.Wait()
	return come, time.Since(began)
}

func (b *bench) awaitWaiting(t *throttle.Throttle, n int) {
	for deadline := time.Now().Add(2 * time.Minute); ; runtime.Gosched() {
		st, err := t.Status(context.Background())
		b.must(err)
		if st.Waiting == n {
			return
		}
		if time.Now().After(deadline) {
			b.Fatalf("of %d calls %d wait", n, st.Waiting)
		}
	}
}
