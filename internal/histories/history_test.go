package histories

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// A history is operations of many goroutines. It is safe for concurrent use.
type history struct {
	began time.Time

	mu  sync.Mutex
	ops []porcupine.Operation
}

func newHistory() *history { return &history{began: time.Now()} }

// now is the time as operations have it.
func (h *history) now() int64 { return int64(time.Since(h.began)) }

// add notes an operation that took effect between two times.
func (h *history) add(op any, call, ret int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{Input: op, Call: call, Return: ret})
}

// all returns the operations, of which those without an end have now.
func (h *history) all() []porcupine.Operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ops)
}

// settle gives the operations that still go on their end.
func (h *history) settle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	for i := range h.ops {
		if h.ops[i].Return == later {
			h.ops[i].Return = now
		}
	}
}

// later is the end of an operation whose effect is still to come.
const later = int64(1) << 62

// judgeWithin bounds the search for an order.
const judgeWithin = 20 * time.Second

// wantOrder fails the test if the model allows no order of the operations.
func wantOrder(t *testing.T, m porcupine.Model, ops []porcupine.Operation) {
	t.Helper()
	if got := porcupine.CheckOperationsTimeout(m, ops, judgeWithin); got != porcupine.Ok {
		t.Errorf("no order fits (%s):\n%s", got, list(ops))
	}
}

// wantNoOrder fails the test if the model allows an order of operations of which
// one was made wrong.
func wantNoOrder(t *testing.T, m porcupine.Model, ops []porcupine.Operation, fault string) {
	t.Helper()
	if got := porcupine.CheckOperationsTimeout(m, ops, judgeWithin); got != porcupine.Illegal {
		t.Errorf("%s isn't found (%s):\n%s", fault, got, list(ops))
	}
}

// list writes the operations one a line, in the order in which they began.
func list(ops []porcupine.Operation) string {
	slices.SortStableFunc(ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for i, op := range ops {
		if i == 200 {
			fmt.Fprintf(&b, "and %d more\n", len(ops)-i)
			break
		}
		fmt.Fprintf(&b, "%9.3f to %9.3f ms  %T %+v\n", float64(op.Call)/1e6, float64(op.Return)/1e6, op.Input, op.Input)
	}
	return b.String()
}

// changed is the history with one operation, the last of those that may be,
// made wrong; nil: there is none.
func changed(ops []porcupine.Operation, change func(op porcupine.Operation) any) []porcupine.Operation {
	ops = slices.Clone(ops)
	for i := len(ops) - 1; i >= 0; i-- {
		if to := change(ops[i]); to != nil {
			ops[i].Input = to
			return ops
		}
	}
	return nil
}
