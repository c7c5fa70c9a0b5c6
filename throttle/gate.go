package throttle

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// A gate bounds the calls in flight of this process to a budget that has no
// limit yet because it is to learn them: one, and twice as many with every
// answer, until the vendor reports a limit. A nil gate is open.
type gate struct {
	sem *semaphore.Weighted

	waiting atomic.Int64

	mu   sync.Mutex
	most int64
	news chan struct{} // closed when those who wait should look again
}

// gateMost is how many calls an open gate lets in: all.
const gateMost = 1 << 40

// gateText stands for the limit in errors.
const gateText = "few calls in flight until the vendor reports its limits"

func newGate() *gate {
	g := &gate{sem: semaphore.NewWeighted(gateMost), most: 1, news: make(chan struct{})}
	g.sem.TryAcquire(gateMost - g.most)
	return g
}

// enter lets a call in, waiting as long as it may: in the order in which calls
// came, whatever their lane. A pause that ends too late, a refused key and Close
// end the wait.
func (g *gate) enter(ctx context.Context, a *ask) *DeniedError {
	if g.sem.TryAcquire(1) {
		a.gate = g
		return nil
	}
	if a.q.dry {
		e := a.denial(ErrBudget)
		e.Limit, e.timeless = gateText, true
		return e
	}
	if g.waiting.Add(1) > int64(a.q.t.cfg.QueueLimit) {
		g.waiting.Add(-1)
		return a.denial(ErrQueueFull)
	}
	defer g.waiting.Add(-1)
	for {
		news := g.next()
		if e := a.hopeless(ctx); e != nil {
			return e
		}
		if g.await(ctx, a, news) {
			a.gate = g
			return nil
		}
	}
}

// await waits for a place, for news, or as long as the call may, and reports
// whether it has one.
func (g *gate) await(ctx context.Context, a *ask, news <-chan struct{}) bool {
	wait, cancel := context.WithCancel(ctx)
	if !a.deadline.IsZero() {
		wait, cancel = context.WithDeadline(ctx, a.deadline)
	}
	defer cancel()
	go func() {
		defer cancel()
		select {
		case <-news:
		case <-a.q.t.done.Done():
		case <-wait.Done():
		}
	}()
	return g.sem.Acquire(wait, 1) == nil
}

// hopeless is the denial of a call that waits at a gate in vain; nil: it may go
// on waiting.
func (a *ask) hopeless(ctx context.Context) *DeniedError {
	now := time.Now()
	if a.q.t.closed.Load() {
		return a.denial(ErrClosed)
	}
	if k := a.q.a.keyNow(a.call.Key); k.refused && a.holds == "" {
		return a.keyDenial(k, k.next.Sub(now))
	}
	a.q.mu.Lock()
	turn, lacks, v := a.q.pausedUntilLocked(a, [2]float64{}, now)
	a.q.mu.Unlock()
	if lacks != 0 && float64(turn.Sub(now).Microseconds()) > a.patience(now) {
		e := a.denial(ErrPaused)
		e.Verdict, e.RetryAfter = v, turn.Sub(now)
		return a.tooLate(ctx, e)
	}
	if ctx.Err() == nil && a.patience(now) > 0 {
		return nil
	}
	e := a.denial(ErrBudget)
	if e.Limit, e.cause = gateText, ctx.Err(); a.byCaller {
		e.cause = context.DeadlineExceeded // whose timer may be a moment late
	}
	return e
}

// next is closed when something has changed for those who wait.
func (g *gate) next() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.news
}

// tell has those who wait look again.
func (g *gate) tell() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.news)
	g.news = make(chan struct{})
}

// shut reports whether a call would have to wait.
func (g *gate) shut() bool {
	if g == nil || !g.sem.TryAcquire(1) {
		return g != nil
	}
	g.sem.Release(1)
	return false
}

// waits is how many calls wait.
func (g *gate) waits() int {
	if g == nil {
		return 0
	}
	return int(g.waiting.Load())
}

// leave lets a call out. One that was answered widens the gate.
func (g *gate) leave(answered bool) {
	if g == nil {
		return
	}
	g.sem.Release(1)
	if answered {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.widen(2 * g.most)
	}
}

// open lets everybody in: the limits are known.
func (g *gate) open() {
	if g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.widen(gateMost)
	}
}

func (g *gate) widen(most int64) {
	if most = min(most, gateMost); most > g.most {
		g.sem.Release(most - g.most)
		g.most = most
	}
}
