package histories

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/headgate-go/headgate/throttle"
)

// A claim charges once, however often it arrives; one whose answer was lost
// charges in the end what was sent, which is nothing where the process denies
// its calls during an outage. The model is a number, and a set of lost claims
// that may be in it for a while.

type (
	charge struct{ n int }    // a call went, and cost so much
	refuse struct{ n int }    // there was no room for so much
	refund struct{ n int }    // a call was cancelled
	appear struct{ i, n int } // a lost claim may have been applied
	vanish struct{ i, n int } // and is corrected, if it was
	reads  struct{ n int }    // so much is counted
)

// counted is the state: how much is, and which lost claims are part of it.
type counted struct {
	n    int
	lost uint64
}

const room = 36 // of the budget

var charges = porcupine.Model{
	Init: func() any { return counted{} },
	Step: func(state, op, _ any) (bool, any) {
		s := state.(counted)
		switch op := op.(type) {
		case charge:
			s.n += op.n
			return s.n <= room, s
		case refuse:
			return s.n+op.n > room, s
		case refund:
			s.n -= op.n
		case appear:
			s.n, s.lost = s.n+op.n, s.lost|1<<op.i
		case vanish:
			in := s.lost&(1<<op.i) != 0
			s.n, s.lost = s.n-op.n, s.lost&^(1<<op.i)
			return in, s
		case reads:
			return s.n == op.n, s
		}
		return s.n >= 0, s
	},
}

func TestAClaimChargesOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, fl fleet) {
		const timeout = 150 * time.Millisecond
		lostInAll, again := 0, 0
		for round := range uint64(4) {
			// A budget of its own: what is used up is used up for the day.
			c := throttle.Config{Outage: throttle.OutageClosed, Budgets: []throttle.Budget{{
				Name: string(rune('a' + round)), Models: []string{model}, Limits: []throttle.Limit{throttle.Requests(room, 24*time.Hour).Using(throttle.FixedWindow)},
			}}}
			var procs []process
			for range 3 {
				procs = append(procs, fl.open(t, c, timeout))
			}
			h := newHistory()
			// Claims that stray are given up, and arrive behind their successors.
			stop := harm(procs, round, cutReplies, cutRequests, loseReplies, strays(2*timeout), strays(2*timeout))
			lost := chargeAndCancel(h, procs, round)
			stop()
			lostInAll += lost
			settleAll(t, h, procs)
			h.settle()
			at := h.now()
			n := countedBy(t, fl.open(t, c, 10*time.Second))
			h.add(reads{n}, at, h.now())
			ops := h.all()
			wantOrder(t, charges, ops)
			wantNoOrder(t, charges, changed(ops, func(op porcupine.Operation) any {
				if r, ok := op.Input.(reads); ok {
					return reads{r.n + 1}
				}
				return nil
			}), "a claim that was charged twice")
			if wrong := changed(ops, func(op porcupine.Operation) any {
				if r, ok := op.Input.(refuse); ok {
					return charge(r)
				}
				return nil
			}); wrong != nil {
				again++
				wantNoOrder(t, charges, wrong, "a call beyond the budget")
			}
		}
		if fl.redis && lostInAll == 0 {
			t.Error("no claim was lost")
		}
		if again == 0 {
			t.Error("no call was refused")
		}
	})
}

// chargeAndCancel has every process make calls, of which some are cancelled,
// and returns how many nobody knows the fate of.
func chargeAndCancel(h *history, procs []process, seed uint64) int {
	var mu sync.Mutex
	lost := 0
	var wg sync.WaitGroup
	for i, p := range procs {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		wg.Go(func() {
			for range 9 {
				time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond)
				n := 1 + r.IntN(4)
				at := h.now()
				permit, err := acquire(p, n)
				ret := h.now()
				switch {
				case err == nil:
					h.add(charge{n}, at, ret)
					if r.IntN(4) == 0 {
						h.add(refund{n}, h.now(), later)
						permit.Cancel()
					}
				case errors.Is(err, throttle.ErrBudget):
					h.add(refuse{n}, at-int64(emptyFor), ret)
				default:
					mu.Lock()
					h.add(appear{lost, n}, at, later)
					h.add(vanish{lost, n}, at, later)
					lost++
					mu.Unlock()
					time.Sleep(60 * time.Millisecond) // as long as the store is tried again
				}
			}
		})
	}
	wg.Wait()
	return lost
}

// emptyFor is for how long a process may know by itself that there is no room.
const emptyFor = 10 * time.Millisecond

func acquire(p process, n int) (throttle.Permit, error) {
	c := call("now")
	c.Cost.Requests = int64(n)
	return p.Acquire(context.Background(), c)
}

// settleAll has every process make a claim that arrives, with everything that
// the process still had to say.
func settleAll(t *testing.T, h *history, procs []process) {
	t.Helper()
	for _, p := range procs {
		if !soon(func() bool {
			at := h.now()
			_, err := acquire(p, 1)
			switch {
			case err == nil:
				h.add(charge{1}, at, h.now())
				return true
			case errors.Is(err, throttle.ErrBudget):
				h.add(refuse{1}, at-int64(emptyFor), h.now())
				return true
			}
			return false // nothing was asked: the process knew that the store was away
		}) {
			t.Fatal("a process doesn't find the store again")
		}
	}
}

// countedBy asks for what is counted.
func countedBy(t *testing.T, p process) int {
	t.Helper()
	if err := p.Check(context.Background(), call("now")); err != nil && !errors.Is(err, throttle.ErrBudget) {
		t.Fatal(err)
	}
	s, err := p.Status(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return int(s.Budgets[0].Limits[0].Used)
}
