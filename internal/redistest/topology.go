package redistest

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// assignSlots shares all slots out among the nodes.
func (c *Cluster) assignSlots() error {
	nodes := c.Nodes()
	for i, n := range nodes {
		first, last := i*slotCount/len(nodes), (i+1)*slotCount/len(nodes)-1
		if err := n.do("CLUSTER", "ADDSLOTSRANGE", first, last).Err(); err != nil {
			return fmt.Errorf("redistest: assign slots: %w", err)
		}
	}
	return nil
}

// meet introduces the nodes to each other, every pair of them: by hearsay they
// would take longer.
func (c *Cluster) meet() error {
	nodes := c.Nodes()
	for i, a := range nodes {
		for _, b := range nodes[i+1:] {
			host, port, err := net.SplitHostPort(b.Addr)
			if err == nil {
				err = a.do("CLUSTER", "MEET", host, port).Err()
			}
			if err != nil {
				return fmt.Errorf("redistest: meet: %w", err)
			}
		}
	}
	return nil
}

func (c *Cluster) awaitReady() error { return poll("cluster", c.ready) }

// ready returns nil if every node knows all nodes, all agree on whose slots
// are whose, and none thinks that the cluster or a node is down.
func (c *Cluster) ready() error {
	nodes := c.Nodes()
	var first string
	for i, n := range nodes {
		seen, err := n.topology(len(nodes))
		if err != nil {
			return fmt.Errorf("node %s: %w", n.Addr, err)
		}
		if i == 0 {
			first = seen
		}
		if seen != first {
			return fmt.Errorf("nodes disagree:\n%s\n%s", first, seen)
		}
	}
	return nil
}

// topology returns which node serves which slots as this one sees it, in a
// form that is equal for nodes that agree.
func (s *Server) topology(nodes int) (string, error) {
	info, err := s.do("CLUSTER", "INFO").Text()
	if err != nil {
		return "", err
	}
	if !strings.Contains(info, "cluster_state:ok") {
		return "", errors.New("the cluster is down")
	}
	entries, err := s.entries()
	if err != nil {
		return "", err
	}
	if len(entries) != nodes {
		return "", fmt.Errorf("knows %d nodes of %d", len(entries), nodes)
	}
	var lines []string
	for _, e := range entries {
		if !e.up {
			return "", fmt.Errorf("%s is not up", e.addr)
		}
		lines = append(lines, e.id+" "+e.addr+" "+strings.Join(e.slots, " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}

// An entry is what one node knows of another or of itself.
type entry struct {
	id, addr string
	up       bool
	slots    []string // single ones and ranges
}

func (s *Server) entries() ([]entry, error) {
	text, err := s.do("CLUSTER", "NODES").Text()
	if err != nil {
		return nil, err
	}
	var entries []entry
	for line := range strings.Lines(text) {
		e, err := parseEntry(line)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// parseEntry takes a line of CLUSTER NODES apart:
//
//	<id> <ip:port@busport> <flags> <master> <ping> <pong> <epoch> <link> <slot>...
func parseEntry(line string) (entry, error) {
	f := strings.Fields(line)
	if len(f) < 8 {
		return entry{}, fmt.Errorf("a line of CLUSTER NODES is %q", line)
	}
	addr, _, _ := strings.Cut(f[1], "@")
	flags := strings.Split(f[2], ",")
	trouble := func(flag string) bool {
		return flag == "fail" || flag == "fail?" || flag == "handshake" || flag == "noaddr"
	}
	return entry{
		id:   f[0],
		addr: addr,
		up:   f[7] == "connected" && !slices.ContainsFunc(flags, trouble),
		// A slot on the move stands in brackets, and only in the eyes of the two concerned.
		slots: slices.DeleteFunc(f[8:], func(slot string) bool { return slot[0] == '[' }),
	}, nil
}
