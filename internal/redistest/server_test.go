package redistest

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-go/headgate/internal/child"
)

func TestStartGivesEachTestItsOwnServer(t *testing.T) {
	t.Parallel()
	a, b := Start(t), Start(t)
	if a.Addr == b.Addr {
		t.Fatalf("two servers on %s", a.Addr)
	}
	set(t, a, "k", "1")
	if n := b.Client(t).Exists(t.Context(), "k").Val(); n != 0 {
		t.Error("a key of one server is in the other")
	}
}

func TestServersStartSideBySide(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { Start(t) })
	}
	all.Wait()
}

func TestServerEndsWithItsTest(t *testing.T) {
	t.Parallel()
	var s *Server
	t.Run("inner", func(t *testing.T) { s = Start(t) })
	if _, up := serverPID(s.Addr); up {
		t.Error("the server outlives its test")
	}
}

func TestSharedIsOneServer(t *testing.T) {
	t.Parallel()
	if a, b := Shared(t), Shared(t); a != b {
		t.Errorf("Shared started two servers, %s and %s", a.Addr, b.Addr)
	}
}

func TestFlushRemovesEveryKey(t *testing.T) {
	t.Parallel()
	s := Start(t)
	set(t, s, "k", "1")
	s.Flush(t)
	if n := s.Client(t).DBSize(t.Context()).Val(); n != 0 {
		t.Errorf("%d keys after Flush", n)
	}
}

func TestRestartKeepsTheAddressAndForgetsTheKeys(t *testing.T) {
	t.Parallel()
	s := Start(t)
	addr, c := s.Addr, s.Client(t)
	set(t, s, "k", "1")
	s.Stop(t)
	if err := c.Ping(t.Context()).Err(); err == nil {
		t.Error("a stopped server answers")
	}
	s.Restart(t)
	if s.Addr != addr {
		t.Errorf("Addr is %s after Restart, was %s", s.Addr, addr)
	}
	if n, err := c.Exists(t.Context(), "k").Result(); n != 0 || err != nil {
		t.Errorf("after Restart the key is there %d times, error %v", n, err)
	}
	s.Restart(t) // of a running server
	if err := c.Ping(t.Context()).Err(); err != nil {
		t.Errorf("after the second Restart: %v", err)
	}
}

func TestPausedServerHangsAndContinues(t *testing.T) {
	t.Parallel()
	s := Start(t)
	impatient := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1, ContextTimeoutEnabled: true})
	defer impatient.Close()
	if err := impatient.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	s.Pause(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := impatient.Ping(ctx).Err(); err == nil {
		t.Error("a paused server answers")
	}
	s.Continue(t)
	if err := s.Client(t).Ping(t.Context()).Err(); err != nil {
		t.Errorf("after Continue: %v", err)
	}
}

func TestPausedServerCanBeStopped(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.Pause(t)
	s.Restart(t)
	if err := s.Client(t).Ping(t.Context()).Err(); err != nil {
		t.Error(err)
	}
}

func TestTakenPortIsNotMistakenForOurServer(t *testing.T) {
	t.Parallel()
	s := Start(t)
	if _, err := launch(s.Addr, t.TempDir()); !errors.Is(err, errExited) {
		t.Errorf("launch on a taken port: %v, want %v", err, errExited)
	}
}

func TestMissingServerIsOneClearLine(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for what, start := range map[string]func(dir string) error{
		"server":   func(dir string) error { _, err := start(dir); return err },
		"cluster":  func(dir string) error { _, err := startCluster(dir); return err },
		"sentinel": func(dir string) error { _, err := startSentinel(dir); return err },
	} {
		err := start(t.TempDir())
		if err == nil {
			t.Fatalf("%s: started without redis-server", what)
		}
		if msg := err.Error(); strings.Contains(msg, "\n") || !strings.Contains(msg, "apt-get install redis-server") {
			t.Errorf("%s: the message is %q", what, msg)
		}
	}
}

// A killed test binary runs no cleanup; its servers must end all the same.
func TestServerEndsWithAKilledBinary(t *testing.T) {
	t.Parallel()
	if os.Getenv("REDISTEST_HOLD") != "" {
		holdServer(t)
	}
	if !child.EndsWithParent {
		t.Skip("the system can't tie a child to its parent")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "REDISTEST_HOLD=1", "TMPDIR="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	addr := make([]byte, len("127.0.0.1:00000"))
	_, readErr := io.ReadFull(out, addr)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if readErr != nil {
		t.Fatal(readErr)
	}
	gone := time.NewTicker(5 * time.Millisecond)
	defer gone.Stop()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); <-gone.C {
		if _, up := serverPID(string(addr)); !up {
			return
		}
	}
	t.Errorf("the server on %s outlives its killed test binary", addr)
}

// holdServer runs in the child: it says where its server is and waits to be
// killed.
func holdServer(t *testing.T) {
	_, _ = os.Stdout.WriteString(Start(t).Addr)
	<-t.Context().Done()
}

func set(t *testing.T, s *Server, key, value string) {
	t.Helper()
	if err := s.Client(t).Set(t.Context(), key, value, 0).Err(); err != nil {
		t.Fatal(err)
	}
}
