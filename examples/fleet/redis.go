package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-go/headgate/internal/child"
)

// errNoRedis is what a user without Redis reads.
var errNoRedis = errors.New("there is no redis-server here: apt-get install redis-server, or give the address of one with -redis")

// startWait is how long a server may take until it answers.
const startWait = 20 * time.Second

// A server is one redis-server process of ours.
type server struct {
	addr  string
	dir   string
	child *child.Child
	end   sync.Once
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
	s := &server{addr: addr, dir: dir}
	cmd := exec.Command(path, append(args, "--bind", host, "--port", port, "--dir", dir,
		"--save", "", "--appendonly", "no", "--loglevel", "warning")...)
	if s.child, err = child.Start(cmd); err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("redis-server: %w", err)
	}
	if err := s.awaitReady(ctx); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
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
		if err == nil && strings.Contains(info, fmt.Sprintf("process_id:%d\r", s.child.PID())) {
			return nil
		}
		select {
		case <-s.child.Exited():
			return fmt.Errorf("redis-server on %s ended as it was started", s.addr)
		case <-ctx.Done():
			return fmt.Errorf("redis-server on %s doesn't answer", s.addr)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// hang has the server neither answer nor end, until resume.
func (s *server) hang() error   { return s.child.Signal(pauseSignal) }
func (s *server) resume() error { return s.child.Signal(continueSignal) }

// stop kills the server, hanging or not, and removes what it wrote.
func (s *server) stop() {
	s.end.Do(func() {
		_ = s.child.Kill()
		_ = os.RemoveAll(s.dir)
	})
}
