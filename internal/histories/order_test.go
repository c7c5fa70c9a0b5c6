package histories

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/headgate-go/headgate/internal/faultproxy"
	"github.com/headgate-go/headgate/throttle"
)

// Who waits longer goes first across the fleet, unless it has left or its
// process is dead. The model is the line of those who wait.

type (
	arrives struct{ who string }
	goes    struct{ who string } // it is let through
	leaves  struct{ who string } // it is cancelled, or its process is dead
)

var order = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, op, _ any) (bool, any) {
		line := state.(string) // one letter for each
		switch op := op.(type) {
		case arrives:
			return true, line + op.who
		case goes:
			return strings.HasPrefix(line, op.who), strings.TrimPrefix(line, op.who)
		case leaves:
			return true, strings.Replace(line, op.who, "", 1)
		}
		return false, line
	},
}

const (
	pace      = 300 * time.Millisecond // from one turn to the next
	travels   = 100 * time.Millisecond // within which a decision has reached its caller
	tolerance = 50 * time.Millisecond  // within which two count as having come together
	stands    = 250 * time.Millisecond // how long a ticket does after its turn
)

func TestWhoWaitsLongerGoesFirstWhoeverDies(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		for round := range uint64(2) {
			// On a machine that stands still for longer than a ticket, its owner
			// counts as dead. Such a history says nothing, and is made again.
			var ops []porcupine.Operation
			if !soon(func() bool {
				stalls := watchStalls()
				ops = waitInLine(t, fl, round)
				return stalls() < travels/2
			}) {
				t.Fatal("the machine is too busy for any history")
			}
			wantOrder(t, order, ops)
			wantNoOrder(t, order, overtaken(ops), "a call that has overtaken another")
		}
	})
}

// waitInLine has calls of four processes come one after another, of which one
// is cancelled, and one process dies where there are connections to cut.
func waitInLine(t *testing.T, fl fleet, seed uint64) []porcupine.Operation {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	budget := throttle.Budget{Name: t.Name() + time.Now().String(), Models: []string{model}, Limits: []throttle.Limit{
		throttle.Requests(1, pace).Using(throttle.TokenBucket),
	}}
	var procs []process
	for _, timeout := range []time.Duration{10 * time.Second, 10 * time.Second, 10 * time.Second, 300 * time.Millisecond} {
		procs = append(procs, fl.open(t, throttle.Config{Outage: throttle.OutageClosed, Budgets: []throttle.Budget{budget}}, timeout))
	}
	h := newHistory()
	first, err := procs[0].Acquire(context.Background(), call("waits"))
	if err != nil {
		t.Fatal(err)
	}
	first.Done()
	var wg sync.WaitGroup
	dead := procs[3]
	for i := range 7 {
		who, p := string(rune('a'+i)), procs[r.IntN(3)]
		if fl.redis && i == 2 {
			p = dead
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		at := h.now()
		h.add(arrives{who}, at, at+int64(tolerance))
		wg.Go(func() { wait(h, p, ctx, who) })
		time.Sleep(tolerance + 20*time.Millisecond)
		switch i {
		case 3:
			if fl.redis {
				h.add(leaves{"c"}, h.now(), later)
				dead.proxy.BlackHole()
				dead.aside.BlackHole()
			}
		case 5:
			h.add(leaves{who}, h.now(), later)
			cancel()
		case 6: // what they say next
			if fl.redis {
				harmOnce(procs[:3], cutReplies, cutRequests)
			}
		}
	}
	if fl.redis {
		_ = dead.Close() // its caller is told, and nobody else
	}
	wg.Wait()
	h.settle()
	return h.all()
}

func harmOnce(procs []process, harms ...func(process) *faultproxy.Fault) {
	for i, p := range procs {
		harms[i%len(harms)](p)
	}
}

// wait is a caller who waits.
func wait(h *history, p process, ctx context.Context, who string) {
	permit, err := p.Acquire(ctx, call("waits"))
	if err != nil {
		return
	}
	h.add(goes{who}, h.now()-int64(travels), h.now())
	permit.Done()
}

// overtaken exchanges the last two that went.
func overtaken(ops []porcupine.Operation) []porcupine.Operation {
	var went []int
	ops = append([]porcupine.Operation(nil), ops...)
	for i, op := range ops {
		if _, ok := op.Input.(goes); ok {
			went = append(went, i)
		}
	}
	a, b := went[len(went)-2], went[len(went)-1]
	ops[a].Input, ops[b].Input = ops[b].Input, ops[a].Input
	return ops
}

// watchStalls returns a function that says for how long the machine has stood
// still at most since, as a goroutine that wakes up often sees it.
func watchStalls() func() time.Duration {
	stop, longest := make(chan struct{}), make(chan time.Duration)
	go func() {
		most, last := time.Duration(0), time.Now()
		ticks := time.NewTicker(5 * time.Millisecond)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				most, last = max(most, time.Since(last)), time.Now()
			case <-stop:
				longest <- most
				return
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-longest
	}
}
