package histories

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/throttle"
)

// No unit that was leased before a pause is spent in it: by nobody of the
// process that was told once it has taken note, and by nobody of another once
// that has heard of it, or can't have heard anything. The model is one process,
// and is paused or not.

type (
	spends struct{ by int } // a call goes
	denied struct{ by int } // a call is denied for the pause
	pauses struct{ by int } // it begins for the process
	ends   struct{ by int }
)

var pausing = porcupine.Model{
	Init: func() any { return 0 }, // how many pauses there are: the next may begin as one ends
	Step: func(state, op, _ any) (bool, any) {
		n := state.(int)
		switch op.(type) {
		case spends:
			return n == 0, n
		case denied:
			return n > 0, n
		case pauses:
			return true, n + 1
		case ends:
			return n > 0, n - 1
		}
		return false, n
	},
	Partition: byProcess,
}

func byProcess(ops []porcupine.Operation) [][]porcupine.Operation {
	parts := make([][]porcupine.Operation, 3)
	for _, op := range ops {
		by := processOf(op.Input)
		parts[by] = append(parts[by], op)
	}
	return parts
}

func processOf(op any) int {
	switch op := op.(type) {
	case spends:
		return op.by
	case denied:
		return op.by
	case pauses:
		return op.by
	case ends:
		return op.by
	}
	panic("no operation")
}

const (
	pauseFor = 400 * time.Millisecond
	hears    = 100 * time.Millisecond // within which a process has done what it was told
	deafFor  = 2 * time.Second        // within which it notices that it is told nothing
)

func TestNoLeaseIsSpentInAPause(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		// On a machine that stands still for as long as a notice may travel, a
		// process may hear of a pause too late. Such a history says nothing.
		var ops []porcupine.Operation
		if !soon(func() bool {
			stalls := watchStalls()
			ops = pausedAgainAndAgain(t, fl)
			return stalls() < hears*9/10
		}) {
			t.Fatal("the machine is too busy for any history")
		}
		went := 0
		for _, op := range ops {
			if _, ok := op.Input.(spends); ok {
				went++
			}
		}
		if went < 200 {
			t.Errorf("only %d calls went", went)
		}
		inPause := amidPause(ops, func(op any) bool { _, ok := op.(spends); return ok })
		if wantOrder(t, pausing, ops); len(inPause) > 0 {
			t.Errorf("these went in a pause:\n%s", list(inPause))
		}
		refused := amidPause(ops, func(op any) bool { _, ok := op.(denied); return ok })
		if len(refused) == 0 {
			t.Fatal("no call was denied in the midst of a pause")
		}
		wantNoOrder(t, pausing, changed(ops, func(op porcupine.Operation) any {
			if op == refused[0] {
				return spends(op.Input.(denied))
			}
			return nil
		}), "a lease that was spent in a pause")
	})
}

// pausedAgainAndAgain is the history of three processes that spend leases while
// one pause follows another.
func pausedAgainAndAgain(t *testing.T, fl fleet) []porcupine.Operation {
	t.Helper()
	h := newHistory()
	var heard [3]chan int64
	var procs []process
	for i := range heard {
		heard[i] = make(chan int64, 1000)
		procs = append(procs, fl.open(t, throttle.Config{
			Outage: throttle.OutageClosed, Pause: pause.Policy{Default: pauseFor, Max: pauseFor, Ramp: -1},
			Lease:   leasing.Policy{Chunk: 100, MaxAge: time.Minute},
			Budgets: []throttle.Budget{{Models: []string{model}, Limits: []throttle.Limit{throttle.Requests(1_000_000, 24*time.Hour)}}},
			Observe: func(e throttle.Event) {
				if e.Kind == throttle.EventPaused {
					heard[i] <- h.now()
				}
			},
		}, 10*time.Second))
	}
	stop := harm(procs, 1, cutAll, cutReplies, cutRequests)
	spendThroughPauses(t, h, procs, heard[:])
	stop()
	h.settle()
	for _, p := range procs {
		_ = p.Close()
	}
	return h.all()
}

// spendThroughPauses has callers call all the while that one pause follows
// another, with a time between them.
func spendThroughPauses(t *testing.T, h *history, procs []process, heard []chan int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var callers sync.WaitGroup
	for i, p := range procs {
		for range 3 {
			callers.Go(func() { spend(h, ctx, p, i) })
		}
	}
	for range 3 {
		time.Sleep(pauseFor / 2)
		if !soon(func() bool { return pauseAll(h, procs, heard) }) {
			t.Fatal("no call goes that could be told of a pause")
		}
		time.Sleep(pauseFor * 3 / 2)
	}
	cancel()
	callers.Wait()
}

func spend(h *history, ctx context.Context, p process, by int) {
	for ctx.Err() == nil {
		at := h.now()
		permit, err := p.Acquire(ctx, call("now"))
		switch ret := h.now(); {
		case err == nil:
			h.add(spends{by}, at, ret)
			permit.Done()
		case errors.Is(err, throttle.ErrPaused):
			h.add(denied{by}, at, ret)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// pauseAll has the first process told of a pause, and notes from when on each
// of them must know.
func pauseAll(h *history, procs []process, heard []chan int64) bool {
	p, err := procs[0].Acquire(context.Background(), call("now"))
	if err != nil {
		return false
	}
	for _, c := range heard {
		for len(c) > 0 {
			<-c
		}
	}
	at := h.now()
	p.Answered(throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: pauseFor})
	ret := h.now()
	p.Done()
	deaf := time.After(deafFor)
	for i, c := range heard {
		knows := ret
		if i > 0 {
			select {
			case knows = <-c:
				knows += int64(hears)
			case <-deaf:
				knows = h.now() + int64(hears)
			}
		}
		h.add(pauses{i}, at, knows)
		// The store's pause ends no earlier than that of the first, and
		// everybody may be slow to hear of it and so to see its end.
		h.add(ends{i}, at+int64(pauseFor)-int64(time.Millisecond), later)
	}
	return true
}

// amidPause returns operations of a kind that lie between the end of a pause's
// beginning and the beginning of its end.
func amidPause(ops []porcupine.Operation, kind func(op any) bool) (amid []porcupine.Operation) {
	for _, op := range ops {
		begun, over := 0, 0
		for _, o := range ops {
			if processOf(o.Input) != processOf(op.Input) {
				continue
			}
			switch o.Input.(type) {
			case pauses:
				if o.Return < op.Call {
					begun++
				}
			case ends:
				if o.Call <= op.Return {
					over++
				}
			}
		}
		if begun > over && kind(op.Input) {
			amid = append(amid, op)
		}
	}
	return amid
}
