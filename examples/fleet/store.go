package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// A store is the Redis of a run: one server, or a primary and a replica with a
// Sentinel that knows which is which.
type store struct {
	Addr     string   // of a single server
	Sentinel []string // addresses; Addr is "" then

	servers []*server
}

// sentinelName is what Sentinel calls the primary.
const sentinelName = "fleet"

func (s *store) client() *redis.Client {
	if s.Addr != "" {
		return redis.NewClient(&redis.Options{Addr: s.Addr})
	}
	return redis.NewFailoverClient(&redis.FailoverOptions{MasterName: sentinelName, SentinelAddrs: s.Sentinel})
}

func (s *store) stop() {
	for _, x := range s.servers {
		x.stop()
	}
}

// openStore finds or starts the Redis that a plan needs. addr "": starts one.
func openStore(ctx context.Context, p plan, addr string) (*store, error) {
	if addr != "" {
		return &store{Addr: addr}, nil
	}
	primary, err := startServer(ctx)
	if err != nil {
		return nil, err
	}
	s := &store{Addr: primary.addr, servers: []*server{primary}}
	if p.Fault != faultFailover {
		return s, nil
	}
	if err := s.replicate(ctx); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// replicate adds a replica and a Sentinel to the one server that there is.
func (s *store) replicate(ctx context.Context) error {
	host, port, _ := net.SplitHostPort(s.Addr)
	replica, err := startServer(ctx, "--replicaof", host, port)
	if err != nil {
		return err
	}
	s.servers = append(s.servers, replica)
	if err := s.awaitReplica(ctx); err != nil {
		return err
	}
	file := filepath.Join(replica.dir, "sentinel.conf") // Sentinel writes to it
	lines := fmt.Sprintf("sentinel monitor %[1]s %[2]s %[3]s 1\nsentinel down-after-milliseconds %[1]s 1000\n"+
		"sentinel failover-timeout %[1]s 5000\n", sentinelName, host, port)
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		return err
	}
	sentinel, err := startServer(ctx, file, "--sentinel")
	if err != nil {
		return err
	}
	s.servers = append(s.servers, sentinel)
	s.Addr, s.Sentinel = "", []string{sentinel.addr}
	return s.awaitWatched(ctx)
}

func (s *store) awaitReplica(ctx context.Context) error {
	c := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer c.Close()
	return await(ctx, "a replica", func() bool {
		info, err := c.Info(ctx, "replication").Result()
		return err == nil && strings.Contains(info, "state=online")
	})
}

// awaitWatched returns once Sentinel knows the replica: before that it has
// nothing to fail over to.
func (s *store) awaitWatched(ctx context.Context) error {
	c := redis.NewSentinelClient(&redis.Options{Addr: s.Sentinel[0]})
	defer c.Close()
	return await(ctx, "Sentinel", func() bool {
		r, err := c.Replicas(ctx, sentinelName).Result()
		return err == nil && len(r) == 1 && r[0]["flags"] == "slave" && r[0]["master-link-status"] == "ok"
	})
}

// await polls until a condition holds.
func await(ctx context.Context, what string, holds func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited for %s in vain", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
