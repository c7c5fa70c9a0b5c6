package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// windows is over how many of them the use of a quota is counted.
const windows = 10

// quota: calls that always wait use what there is, and leave when there is room.
// A minute is shortened, and everything that belongs to it with it but for the
// number of calls: 6 000 in a window of 5 s are twelve times as hard to use up as
// 6 000 in a minute.
func quota(b *bench) {
	per := 5 * time.Second
	if b.isQuick() {
		per = time.Second
	}
	amounts := []int64{60, 600, 6000}
	use := make([]float64, len(amounts))
	var all sync.WaitGroup
	errs := make(chan error, len(amounts)+1)
	for i, n := range amounts {
		t := b.patient(fmt.Sprintf("quota-%d", n), throttle.Requests(n, per))
		all.Go(func() {
			went, err := useUp(t, per)
			use[i] = 100 * float64(went) / float64(windows*n)
			errs <- err
		})
	}
	var late, floor []float64
	t := b.patient("turns", throttle.Requests(1, turn).Using(throttle.FixedWindow))
	all.Go(func() {
		var err error
		late, floor, err = lateness(t, windows*per)
		errs <- err
	})
	all.Wait()
	close(errs)
	for err := range errs {
		b.must(err)
	}
	for i, n := range amounts {
		bound := 99.0
		if n == 60 {
			bound = 97
		}
		b.atLeast("quota", fmt.Sprintf("use of %d per minute over %d windows", n, windows), use[i], bound, "%",
			fmt.Sprintf("windows of %v", per))
	}
	// What a timer alone is late by is the machine's fault.
	b.atMost("quota", "p99 of how late a waiting call leaves, beyond a timer alone", quantile(late, 0.99)-quantile(floor, 0.99), 5, "ms",
		fmt.Sprintf("of %d: p50 %.2f, p99 %.2f ms; the timer: p50 %.2f, p99 %.2f ms",
			len(late), median(late), quantile(late, 0.99), median(floor), quantile(floor, 0.99)))
}

// patient is a throttle whose calls wait as long as it takes.
func (b *bench) patient(prefix string, l throttle.Limit) *throttle.Throttle {
	c := b.inRedis(limited("m"), prefix)
	c.Budgets[0].Limits[0] = l
	c.Lanes = []lanes.Lane{{Name: "patient", Share: 1, Wait: -1}}
	return b.throttle(c)
}

// useUp has callers wait for room from the beginning of a window on, and
// returns how many calls went in all windows together.
func useUp(t *throttle.Throttle, per time.Duration) (int64, error) {
	begin := time.Now().Truncate(per).Add(per)
	time.Sleep(time.Until(begin))
	ctx, cancel := context.WithDeadline(context.Background(), begin.Add(windows*per))
	defer cancel()
	var went atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for ctx.Err() == nil {
				p, err := t.Acquire(ctx, throttle.Call{Key: key, Model: "m"})
				switch {
				case err == nil:
					went.Add(1)
					p.Done()
				case errors.Is(err, throttle.ErrBudget) || ctx.Err() != nil:
					return // its turn would come after the end
				default:
					failed.Store(&err)
					return
				}
			}
		})
	}
	wg.Wait()
	if e := failed.Load(); e != nil {
		return 0, *e
	}
	return went.Load(), nil
}

// turn is a window with room for one call.
const turn = 100 * time.Millisecond

// lateness has a call wait for each window, which begin at known instants, and
// returns how many milliseconds after that each left; and how late a timer alone
// is.
func lateness(t *throttle.Throttle, d time.Duration) (late, floor []float64, err error) {
	ctx := context.Background()
	for began := time.Now(); time.Since(began) < d; {
		p, err := t.Acquire(ctx, throttle.Call{Key: key, Model: "m"})
		if err != nil {
			return nil, nil, err
		}
		now := time.Now()
		p.Done()
		late = append(late, float64(now.Sub(now.Truncate(turn)).Microseconds())/1e3)
		half := now.Truncate(turn).Add(turn / 2)
		time.Sleep(time.Until(half))
		floor = append(floor, float64(time.Since(half).Microseconds())/1e3)
	}
	return late[1:], floor, nil // the first found room when it came
}
