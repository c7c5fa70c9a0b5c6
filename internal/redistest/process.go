package redistest

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/child"
)

// startTimeout is how long a server may take until it answers. Servers start
// in milliseconds; the rest is for machines busy with other tests.
const startTimeout = 20 * time.Second

var (
	errNotInstalled = errors.New("redistest: redis-server is not installed: run `make test`, which installs it, or `apt-get install redis-server`")
	errExited       = errors.New("redistest: redis-server exited at start")
)

// retryable reports whether another port might help.
func retryable(err error) bool { return errors.Is(err, errExited) }

// A process is one run of redis-server.
type process struct {
	child  *child.Child
	output bytes.Buffer // to be read after its end only
}

// launch runs redis-server and returns once it answers. The arguments come
// before those that every server here has, so a file may be the first of them.
func launch(addr, dir string, args ...string) (*process, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, errNotInstalled
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("redistest: %w", err)
	}
	p := &process{}
	cmd := exec.Command(path, slices.Concat(args, []string{
		"--bind", host, "--port", port, "--dir", dir,
		"--save", "", "--appendonly", "no", "--loglevel", "warning",
	})...)
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	if p.child, err = child.Start(cmd); err != nil {
		return nil, fmt.Errorf("redistest: start redis-server: %w", err)
	}
	if err := p.awaitReady(addr); err != nil {
		p.kill()
		return nil, fmt.Errorf("%w\n%s", err, p.output.Bytes())
	}
	return p, nil
}

// awaitReady asks until the server answers, is gone, or startTimeout is over.
func (p *process) awaitReady(addr string) error {
	ask := time.NewTicker(5 * time.Millisecond)
	defer ask.Stop()
	deadline := time.After(startTimeout)
	for {
		if pid, ok := serverPID(addr); ok {
			// Somebody else's server may have been faster to take the port.
			if pid != p.child.PID() {
				return errExited
			}
			return nil
		}
		select {
		case <-p.child.Exited():
			return errExited
		case <-deadline:
			return fmt.Errorf("redistest: redis-server on %s doesn't answer after %v", addr, startTimeout)
		case <-ask.C:
		}
	}
}

// kill ends the process, frozen or not, and waits until it is reaped.
func (p *process) kill() {
	_ = p.child.Kill() // fails only if it is gone already
}

func (s *Server) signal(tb testing.TB, verb string, sig os.Signal) {
	tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		tb.Fatalf("redistest: %s: the server is stopped", verb)
	}
	if err := s.proc.child.Signal(sig); err != nil {
		tb.Fatalf("redistest: %s: %v", verb, err)
	}
}
