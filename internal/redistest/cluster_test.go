package redistest

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// One cluster for all of them, one after the other: each start takes seconds.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := StartCluster(t)
	t.Run("serves every slot", func(t *testing.T) { servesEverySlot(t, c) })
	t.Run("half moved slot", func(t *testing.T) { halfMovedSlot(t, c) })
	t.Run("aborted move", func(t *testing.T) { abortedMove(t, c) })
	t.Run("finished move", func(t *testing.T) { finishedMove(t, c) })
	t.Run("node down and back", func(t *testing.T) { nodeDownAndBack(t, c) })
}

func servesEverySlot(t *testing.T, c *Cluster) {
	if n := len(c.Nodes()); n != 3 {
		t.Fatalf("%d nodes, want 3", n)
	}
	client := c.Client(t)
	for i := range 200 {
		if err := client.Set(t.Context(), "k"+strconv.Itoa(i), i, time.Hour).Err(); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range c.Nodes() {
		if n.Client(t).DBSize(t.Context()).Val() == 0 {
			t.Errorf("node %s got none of 200 keys", n.Addr)
		}
	}
	if got := c.KeysWithoutExpiry(t); len(got) != 0 {
		t.Errorf("without expiry: %v, want none", got)
	}
	c.Flush(t)
	for _, n := range c.Nodes() {
		if got := n.Client(t).DBSize(t.Context()).Val(); got != 0 {
			t.Errorf("node %s has %d keys after Flush", n.Addr, got)
		}
	}
}

func TestSharedClusterIsOneCluster(t *testing.T) {
	t.Parallel()
	if a, b := SharedCluster(t), SharedCluster(t); a != b {
		t.Error("SharedCluster started two clusters")
	}
}

func TestClusterKeysWithoutExpiry(t *testing.T) {
	t.Parallel()
	c := SharedCluster(t)
	client := c.Client(t)
	want := []string{"forever-a", "forever-b", "forever-c", "forever-d"}
	for _, key := range want {
		client.Set(t.Context(), key, 1, 0)
	}
	client.Set(t.Context(), "passing", 1, time.Hour)
	got := c.KeysWithoutExpiry(t)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestScriptFlushConcernsOneNode(t *testing.T) {
	t.Parallel()
	c := SharedCluster(t)
	hash := redis.NewScript("return 'flushed on one node'")
	for _, n := range c.Nodes() {
		if err := hash.Load(t.Context(), n.Client(t)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	c.ScriptFlush(t, c.Nodes()[1])
	for i, n := range c.Nodes() {
		known := hash.Exists(t.Context(), n.Client(t)).Val()
		if want := i != 1; !slices.Equal(known, []bool{want}) {
			t.Errorf("node %d knows the script: %v, want %v", i, known, want)
		}
	}
}

func nodeDownAndBack(t *testing.T, c *Cluster) {
	down := c.Nodes()[1]
	down.Stop(t)
	alive := c.Nodes()[0]
	key := c.keyOf(t, alive, "survivor")
	if err := alive.Client(t).Set(t.Context(), key, 1, 0).Err(); err != nil {
		t.Errorf("a node whose neighbour is down: %v", err)
	}
	down.Restart(t)
	c.AwaitReady(t)
	back := c.keyOf(t, down, "returned")
	if err := down.Client(t).Set(t.Context(), back, 1, 0).Err(); err != nil {
		t.Errorf("the restarted node doesn't serve its slots: %v", err)
	}
}

func TestOwnerServesTheSlot(t *testing.T) {
	t.Parallel()
	c := SharedCluster(t)
	for i := range 30 {
		key := "owned" + strconv.Itoa(i)
		owner := c.Owner(t, c.Slot(t, key))
		for _, n := range c.Nodes() {
			err := n.do("EXISTS", key).Err()
			if serves := err == nil; serves != (n == owner) {
				t.Errorf("%s is owned by %s, but %s answers %v", key, owner.Addr, n.Addr, err)
			}
		}
	}
}

func TestEntryServes(t *testing.T) {
	t.Parallel()
	e, err := parseEntry("id 127.0.0.1:1@2 myself,master - 0 0 1 connected 0-9 12 [13->-other]")
	if err != nil {
		t.Fatal(err)
	}
	for slot, want := range map[int]bool{0: true, 9: true, 10: false, 12: true, 13: false} {
		if got := e.serves(slot); got != want {
			t.Errorf("slot %d: %v, want %v", slot, got, want)
		}
	}
}

func TestParseEntryRefusesShortLines(t *testing.T) {
	t.Parallel()
	if e, err := parseEntry("id 127.0.0.1:1@2 master"); err == nil {
		t.Errorf("parsed as %+v", e)
	}
}

// keyOf returns a key whose slot the node serves.
func (c *Cluster) keyOf(t *testing.T, n *Server, prefix string) string {
	t.Helper()
	for i := range 1000 {
		key := prefix + strconv.Itoa(i)
		if err := n.do("EXISTS", key).Err(); err == nil {
			return key
		}
	}
	t.Fatalf("node %s serves none of 1000 keys", n.Addr)
	return ""
}
