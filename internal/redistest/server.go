package redistest

import (
	"context"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

// A Server is one redis-server process. Its methods are safe for concurrent
// use; each fails the test it is given if the server doesn't do as asked.
type Server struct {
	// Addr is host and port. It stays the same over restarts.
	Addr string

	dir  string
	args []string

	mu   sync.Mutex
	proc *process // Guarded by mu; nil while stopped.
}

// Start runs a server for one test and stops it when the test ends.
func Start(tb testing.TB) *Server {
	tb.Helper()
	s, err := start(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.kill)
	return s
}

// Client returns a client of the server, closed when the test ends.
func (s *Server) Client(tb testing.TB) *redis.Client {
	tb.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr})
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// Flush removes every key.
func (s *Server) Flush(tb testing.TB) {
	tb.Helper()
	if err := s.Client(tb).FlushAll(context.Background()).Err(); err != nil {
		tb.Fatalf("redistest: flush: %v", err)
	}
}

// Stop kills the server. Connections break and new ones are refused until
// Restart.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	s.kill()
}

// Restart runs the server again on the same port, empty. It stops a server
// that still runs first.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killLocked()
	p, err := launch(s.Addr, s.dir, s.args...)
	if err != nil {
		tb.Fatal(err)
	}
	s.proc = p
}

// Pause freezes the server: connections stay open and nothing is answered,
// until Continue.
func (s *Server) Pause(tb testing.TB) {
	tb.Helper()
	s.signal(tb, "pause", pauseSignal)
}

// Continue ends Pause. Commands that arrived meanwhile are carried out.
func (s *Server) Continue(tb testing.TB) {
	tb.Helper()
	s.signal(tb, "continue", continueSignal)
}

func start(dir string) (*Server, error) { return startAt(freeAddr, dir) }

// startAt runs redis-server on an address that pick returns.
func startAt(pick func() (string, error), dir string, args ...string) (*Server, error) {
	s := &Server{dir: dir, args: args}
	var err error
	// A port that was free a moment ago may be taken by the time the server
	// binds it, when several test binaries start servers at once.
	for range 10 {
		if s.Addr, err = pick(); err != nil {
			return nil, err
		}
		if s.proc, err = launch(s.Addr, dir, args...); err == nil || !retryable(err) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Server) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.killLocked()
}

// killLocked requires that s.mu is held.
func (s *Server) killLocked() {
	if s.proc != nil {
		s.proc.kill()
		s.proc = nil
	}
}
