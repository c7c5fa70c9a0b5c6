package redistest

import (
	"strconv"
	"strings"
	"testing"
)

// Slot returns the slot of a key.
func (c *Cluster) Slot(tb testing.TB, key string) int {
	tb.Helper()
	slot, err := c.Nodes()[0].do("CLUSTER", "KEYSLOT", key).Int()
	if err != nil {
		tb.Fatalf("redistest: slot of %q: %v", key, err)
	}
	return slot
}

// Owner returns the node that serves a slot.
func (c *Cluster) Owner(tb testing.TB, slot int) *Server {
	tb.Helper()
	nodes := c.Nodes()
	entries, err := nodes[0].entries()
	if err != nil {
		tb.Fatalf("redistest: owner of slot %d: %v", slot, err)
	}
	for _, e := range entries {
		for _, n := range nodes {
			if n.Addr == e.addr && e.serves(slot) {
				return n
			}
		}
	}
	tb.Fatalf("redistest: nobody serves slot %d", slot)
	return nil
}

func (e entry) serves(slot int) bool {
	for _, r := range e.slots {
		first, last, isRange := strings.Cut(r, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 == nil && err2 == nil && from <= slot && slot <= to {
			return true
		}
	}
	return false
}
