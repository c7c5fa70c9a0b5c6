package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// errNoRedis is what a user without Redis reads.
var errNoRedis = errors.New("there is no redis-server here: apt-get install redis-server, or give the address of one with -redis")

// startWait is how long a server may take until it answers.
const startWait = 20 * time.Second

// A server is one redis-server process of ours.
type server struct {
	addr string
	dir  string
	cmd  *exec.Cmd
	done chan struct{} // closed once it is gone and reaped
	end  sync.Once
}

// startServer runs redis-server on a free port. The arguments come before those
// that every server here has, so a file may be the first of them.
func startServer(ctx context.Context, args ...string) (*server, error) {
	var err error
	for range 5 { // somebody else may be faster to take the port
		var addr string
		if addr, err = freeAddr(); err != nil {
			return nil, err
		}
		var s *server
		if s, err = startServerAt(ctx, addr, args...); err == nil || errors.Is(err, errNoRedis) {
			return s, err
		}
	}
	return nil, err
}

func startServerAt(ctx context.Context, addr string, args ...string) (*server, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errNoRedis
	}
	dir, err := os.MkdirTemp("", "headgate-fleet-")
	if err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(addr)
	s := &server{addr: addr, dir: dir, done: make(chan struct{})}
	s.cmd = exec.Command(path, append(args, "--bind", host, "--port", port, "--dir", dir,
		"--save", "", "--appendonly", "no", "--loglevel", "warning")...)
	dieWithParent(s.cmd)
	if err := startFromThread(s.cmd, s.done); err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("redis-server: %w", err)
	}
	if err := s.awaitReady(ctx); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// startFromThread starts a process and reaps it, from a goroutine that keeps its
// thread meanwhile: Linux ends such a child with the thread that started it, not
// with the parent process as a whole.
func startFromThread(cmd *exec.Cmd, done chan struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // killed is how it ends
			close(done)
		}
	}()
	return <-started
}

func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func (s *server) awaitReady(ctx context.Context) error {
	c := redis.NewClient(&redis.Options{Addr: s.addr, MaxRetries: -1})
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		info, err := c.Info(ctx, "server").Result()
		if err == nil && strings.Contains(info, fmt.Sprintf("process_id:%d\r", s.cmd.Process.Pid)) {
			return nil
		}
		select {
		case <-s.done:
			return fmt.Errorf("redis-server on %s ended as it was started", s.addr)
		case <-ctx.Done():
			return fmt.Errorf("redis-server on %s doesn't answer", s.addr)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// hang has the server neither answer nor end, until resume.
func (s *server) hang() error   { return s.cmd.Process.Signal(pauseSignal) }
func (s *server) resume() error { return s.cmd.Process.Signal(continueSignal) }

// stop kills the server, hanging or not, and removes what it wrote.
func (s *server) stop() {
	s.end.Do(func() {
		_ = s.cmd.Process.Kill()
		<-s.done
		_ = os.RemoveAll(s.dir)
	})
}

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
