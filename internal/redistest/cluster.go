package redistest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

// slotCount is how many slots a cluster has.
const slotCount = 16384

// nodeArgs make a server a cluster node. A slot without a node, or whose node
// is down, must not stop the others; a node is missed soon, yet not for a
// hiccup of a busy machine; and one that gave its last slot away stays a master
// instead of turning into a replica.
var nodeArgs = []string{
	"--cluster-enabled", "yes",
	"--cluster-config-file", "nodes.conf",
	"--cluster-require-full-coverage", "no",
	"--cluster-node-timeout", "10000", // on a busy machine nodes are slow, not dead
	"--cluster-allow-replica-migration", "no",
}

// A Cluster is a Redis Cluster of masters without replicas, three at first,
// which share the slots evenly. Its methods are safe for concurrent use; each
// fails the test it is given if the cluster doesn't do as asked.
type Cluster struct {
	dir string

	mu    sync.Mutex
	nodes []*Server // Guarded by mu.
}

// StartCluster runs a cluster for one test and stops it when the test ends. It
// takes two seconds, for which a node that has just started is never ready.
func StartCluster(tb testing.TB) *Cluster {
	tb.Helper()
	c, err := startCluster(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.kill)
	return c
}

// Nodes returns the masters. They may be stopped, restarted and frozen like
// any other Server. A restarted one is empty, keeps its slots and answers
// CLUSTERDOWN until AwaitReady returns.
func (c *Cluster) Nodes() []*Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.nodes)
}

// Addrs returns the addresses of the masters. Nodes name each other by them,
// so a client that is to meet a proxy on its way needs a Dialer that goes
// there instead.
func (c *Cluster) Addrs() []string {
	var addrs []string
	for _, n := range c.Nodes() {
		addrs = append(addrs, n.Addr)
	}
	return addrs
}

// Client returns a client of the cluster, closed when the test ends.
func (c *Cluster) Client(tb testing.TB) *redis.ClusterClient {
	tb.Helper()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: c.Addrs()})
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// Flush removes every key.
func (c *Cluster) Flush(tb testing.TB) {
	tb.Helper()
	for _, n := range c.Nodes() {
		n.Flush(tb)
	}
}

// KeysWithoutExpiry returns the keys that the cluster would keep for ever.
func (c *Cluster) KeysWithoutExpiry(tb testing.TB) []string {
	tb.Helper()
	var forever []string
	for _, n := range c.Nodes() {
		forever = append(forever, n.KeysWithoutExpiry(tb)...)
	}
	return forever
}

// ScriptFlush has one node forget the scripts it was sent.
func (c *Cluster) ScriptFlush(tb testing.TB, node *Server) {
	tb.Helper()
	if err := node.Client(tb).ScriptFlush(context.Background()).Err(); err != nil {
		tb.Fatalf("redistest: script flush: %v", err)
	}
}

// AddEmptyMaster adds a master without slots, which MoveSlot may give some.
func (c *Cluster) AddEmptyMaster(tb testing.TB) *Server {
	tb.Helper()
	n, err := c.addNode()
	if err == nil {
		err = c.meet()
	}
	if err == nil {
		err = c.awaitReady()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// AwaitReady returns once every node is up, serves its slots and agrees with
// the others on who serves which.
func (c *Cluster) AwaitReady(tb testing.TB) {
	tb.Helper()
	if err := c.awaitReady(); err != nil {
		tb.Fatal(err)
	}
}

func startCluster(dir string) (*Cluster, error) {
	c := &Cluster{dir: dir}
	if err := c.form(); err != nil {
		c.kill()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) form() error {
	for range 3 {
		if _, err := c.addNode(); err != nil {
			return err
		}
	}
	if err := c.assignSlots(); err != nil {
		return err
	}
	if err := c.meet(); err != nil {
		return err
	}
	return c.awaitReady()
}

func (c *Cluster) addNode() (*Server, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	// A directory each: that is where a node writes what it knows of the others.
	dir := filepath.Join(c.dir, strconv.Itoa(len(c.nodes)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("redistest: %w", err)
	}
	n, err := startAt(freeNodeAddr, dir, nodeArgs...)
	if err != nil {
		return nil, err
	}
	c.nodes = append(c.nodes, n)
	// Masters of the same epoch would have to settle first who goes ahead.
	if err := n.do("CLUSTER", "SET-CONFIG-EPOCH", len(c.nodes)).Err(); err != nil {
		return nil, fmt.Errorf("redistest: config epoch: %w", err)
	}
	return n, nil
}

func (c *Cluster) kill() {
	for _, n := range c.Nodes() {
		n.kill()
	}
}
