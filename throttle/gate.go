package throttle

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// A gate bounds the calls in flight of this process to a budget that has no
// limit yet because it is to learn them: one, and twice as many with every
// answer, until the vendor reports a limit. A nil gate is open.
type gate struct {
	sem *semaphore.Weighted

	mu   sync.Mutex
	most int64
}

// gateMost is how many calls an open gate lets in: all.
const gateMost = 1 << 40

// gateText stands for the limit in errors.
const gateText = "few calls in flight until the vendor reports its limits"

func newGate() *gate {
	g := &gate{sem: semaphore.NewWeighted(gateMost), most: 1}
	g.sem.TryAcquire(gateMost - g.most)
	return g
}

// enter lets a call in, waiting as long as it may.
func (g *gate) enter(ctx context.Context, a *ask) *DeniedError {
	if g == nil || g.sem.TryAcquire(1) {
		a.gate = g
		return nil
	}
	wait := ctx
	if !a.deadline.IsZero() {
		var cancel context.CancelFunc
		wait, cancel = context.WithDeadline(ctx, a.deadline)
		defer cancel()
	}
	if g.sem.Acquire(wait, 1) == nil {
		a.gate = g
		return nil
	}
	e := a.denial(ErrBudget)
	if e.Limit, e.cause = gateText, ctx.Err(); a.byCaller {
		e.cause = context.DeadlineExceeded // whose timer may be a moment late
	}
	return e
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
