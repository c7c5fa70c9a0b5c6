package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// A legacy is what a worker has in hand when it is killed.
type legacy struct {
	At      time.Time
	Leased  int // calls that it could send without asking
	Waiting int // callers
	Out     int // calls that the vendor is thinking about
}

func (l legacy) complete() bool { return l.Leased > 0 && l.Waiting > 0 && l.Out > 0 }

func (l legacy) String() string { return fmt.Sprintf("%d, %d, %d", l.Leased, l.Waiting, l.Out) }

// hands is what the worker has in hand now.
func (w *worker) hands(ctx context.Context) legacy {
	l := legacy{Out: int(w.out.Load())}
	s, _ := w.throttle.Status(ctx) // what is asked for here is known without Redis
	l.Waiting = s.Waiting
	for _, b := range s.Budgets {
		l.Leased += int(b.Leased)
	}
	l.At = time.Now()
	return l
}

// die kills the worker's process once it has something of everything in hand,
// or has waited for that in vain. Nothing runs any more that could tidy up.
func (w *worker) die(ctx context.Context, start time.Time, tell func(legacy)) {
	if !sleepUntil(ctx, start.Add(w.job.Death)) {
		return
	}
	l := w.hands(ctx)
	for last := time.Now().Add(lastWish); !l.complete() && time.Now().Before(last); l = w.hands(ctx) {
		time.Sleep(time.Millisecond)
	}
	tell(l)
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill()
	}
}

// lastWish is how long a worker waits for something of everything.
const lastWish = 200 * time.Millisecond
