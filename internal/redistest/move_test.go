package redistest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func finishedMove(t *testing.T, c *Cluster) {
	c.Flush(t)
	client := c.Client(t)
	slot, keys := setTagged(t, c, 20)
	from := c.Owner(t, slot)
	to := c.AddEmptyMaster(t)
	if n := len(c.Nodes()); n != 4 {
		t.Errorf("%d nodes after AddEmptyMaster, want 4", n)
	}

	c.MoveSlot(t, slot, from, to)
	if got := c.Owner(t, slot); got != to {
		t.Errorf("slot %d is served by %s, want %s", slot, got.Addr, to.Addr)
	}
	for _, key := range keys {
		// The client still believes in the old owner; it is told better.
		if err := client.Get(t.Context(), key).Err(); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if n := to.Client(t).DBSize(t.Context()).Val(); n != 20 {
		t.Errorf("the new owner has %d keys, want 20", n)
	}
	if err := from.do("GET", keys[0]).Err(); !isError(err, "MOVED") {
		t.Errorf("the old owner answers %v, want MOVED", err)
	}

	c.MoveSlot(t, slot, to, from)
	if n := to.Client(t).DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys are left after the way back", n)
	}
}

func halfMovedSlot(t *testing.T, c *Cluster) {
	c.Flush(t)
	client := c.Client(t)
	slot, keys := setTagged(t, c, 4)
	from := c.Owner(t, slot)
	to := other(c, from)

	m := c.BeginMove(t, slot, from, to)
	if got := m.Keys(t); len(got) != 4 {
		t.Errorf("the old node has %v, want all four keys", got)
	}
	m.MoveKeys(t, keys[:2]...)
	if err := from.do("GET", keys[0]).Err(); !isError(err, "ASK") {
		t.Errorf("for a key that has gone the old node answers %v, want ASK", err)
	}
	if err := from.do("GET", keys[3]).Err(); err != nil {
		t.Errorf("for a key that is still there the old node answers %v", err)
	}
	if err := from.do("MGET", keys[0], keys[3]).Err(); !isError(err, "TRYAGAIN") {
		t.Errorf("for keys on both sides the old node answers %v, want TRYAGAIN", err)
	}
	for _, key := range keys {
		if err := client.Get(t.Context(), key).Err(); err != nil {
			t.Errorf("%s through the client: %v", key, err)
		}
	}
	if got := c.KeysWithoutExpiry(t); len(got) != 4 {
		t.Errorf("without expiry in the middle of the move: %v, want all four", got)
	}

	m.Finish(t)
	if err := client.MGet(t.Context(), keys...).Err(); err != nil {
		t.Errorf("after the move: %v", err)
	}
	if got := c.Owner(t, slot); got != to {
		t.Errorf("slot %d is served by %s, want %s", slot, got.Addr, to.Addr)
	}
}

func abortedMove(t *testing.T, c *Cluster) {
	c.Flush(t)
	slot, keys := setTagged(t, c, 4)
	from := c.Owner(t, slot)
	to := other(c, from)

	m := c.BeginMove(t, slot, from, to)
	m.MoveKeys(t, keys[:2]...)
	m.Abort(t)
	c.AwaitReady(t)
	got := m.Keys(t)
	slices.Sort(got)
	if !slices.Equal(got, keys) {
		t.Errorf("the old node has %v, want %v", got, keys)
	}
	if err := from.do(mget(keys)...).Err(); err != nil {
		t.Errorf("after Abort: %v", err)
	}
}

// setTagged sets n keys of one slot, in alphabetical order.
func setTagged(t *testing.T, c *Cluster, n int) (slot int, keys []string) {
	t.Helper()
	client := c.Client(t)
	for i := range n {
		key := fmt.Sprintf("{tag}:%02d", i)
		if err := client.Set(t.Context(), key, i, 0).Err(); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	return c.Slot(t, "{tag}"), keys
}

func other(c *Cluster, than *Server) *Server {
	nodes := c.Nodes()
	return nodes[slices.IndexFunc(nodes, func(n *Server) bool { return n != than })]
}

func mget(keys []string) []any {
	args := []any{"MGET"}
	for _, k := range keys {
		args = append(args, k)
	}
	return args
}

func isError(err error, kind string) bool {
	return err != nil && strings.HasPrefix(err.Error(), kind+" ")
}
