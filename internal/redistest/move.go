package redistest

import (
	"net"
	"testing"
)

// MoveSlot moves a slot with its keys from one node to another.
func (c *Cluster) MoveSlot(tb testing.TB, slot int, from, to *Server) {
	tb.Helper()
	c.BeginMove(tb, slot, from, to).Finish(tb)
}

// A Move is a slot on its way between two nodes. Until it is finished the old
// node serves the keys it still has and answers ASK for others; the new one
// serves after ASKING only, and for keys of which it has some but not all
// answers TRYAGAIN.
type Move struct {
	cluster  *Cluster
	slot     int
	from, to *Server
}

// BeginMove opens a slot on both nodes and moves no key yet.
func (c *Cluster) BeginMove(tb testing.TB, slot int, from, to *Server) *Move {
	tb.Helper()
	m := &Move{cluster: c, slot: slot, from: from, to: to}
	m.set(tb, to, "IMPORTING", nodeID(tb, from))
	m.set(tb, from, "MIGRATING", nodeID(tb, to))
	return m
}

// Keys returns the keys of the slot that the old node still has.
func (m *Move) Keys(tb testing.TB) []string {
	tb.Helper()
	return keysIn(tb, m.from, m.slot)
}

// MoveKeys moves some keys of the slot.
func (m *Move) MoveKeys(tb testing.TB, keys ...string) {
	tb.Helper()
	migrate(tb, m.from, m.to, keys)
}

// Finish moves the keys that are left and makes the new node the owner, which
// every node knows when it returns.
func (m *Move) Finish(tb testing.TB) {
	tb.Helper()
	owner := nodeID(tb, m.to)
	// A slot on the move gets no new keys, so none is left behind. The new
	// owner hears of it first: otherwise nobody would serve the slot for a moment.
	m.MoveKeys(tb, m.Keys(tb)...)
	m.set(tb, m.to, "NODE", owner)
	for _, n := range m.cluster.Nodes() {
		if n != m.to {
			m.set(tb, n, "NODE", owner)
		}
	}
	m.cluster.AwaitReady(tb)
}

// Abort leaves the slot with the old node and moves its keys back.
func (m *Move) Abort(tb testing.TB) {
	tb.Helper()
	m.set(tb, m.from, "STABLE") // before it gets keys that it would answer ASK for
	migrate(tb, m.to, m.from, keysIn(tb, m.to, m.slot))
	m.set(tb, m.to, "STABLE")
}

func (m *Move) set(tb testing.TB, on *Server, state string, node ...any) {
	tb.Helper()
	args := append([]any{"CLUSTER", "SETSLOT", m.slot, state}, node...)
	if err := on.do(args...).Err(); err != nil {
		tb.Fatalf("redistest: slot %d on %s: %s: %v", m.slot, on.Addr, state, err)
	}
}

func nodeID(tb testing.TB, s *Server) string {
	tb.Helper()
	id, err := s.do("CLUSTER", "MYID").Text()
	if err != nil {
		tb.Fatalf("redistest: node id: %v", err)
	}
	return id
}

func keysIn(tb testing.TB, s *Server, slot int) []string {
	tb.Helper()
	keys, err := s.do("CLUSTER", "GETKEYSINSLOT", slot, 1_000_000).StringSlice()
	if err != nil {
		tb.Fatalf("redistest: keys in slot %d: %v", slot, err)
	}
	return keys
}

func migrate(tb testing.TB, from, to *Server, keys []string) {
	tb.Helper()
	if len(keys) == 0 {
		return
	}
	host, port, err := net.SplitHostPort(to.Addr)
	if err != nil {
		tb.Fatal(err)
	}
	args := []any{"MIGRATE", host, port, "", 0, settleTimeout.Milliseconds(), "REPLACE", "KEYS"}
	for _, k := range keys {
		args = append(args, k)
	}
	if err := from.do(args...).Err(); err != nil {
		tb.Fatalf("redistest: migrate: %v", err)
	}
}
