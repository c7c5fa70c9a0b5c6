package redistest

import (
	"os"
	"sync"
	"testing"
)

// shared is the server of the whole test binary, started by whoever asks
// first.
var shared struct {
	once   sync.Once
	server *Server
	err    error
}

// Shared returns the server that all tests of the binary use. Tests keep
// apart by key prefixes of their own, and must not flush, stop or freeze it.
// The package's TestMain must call Main.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	shared.once.Do(startShared)
	if shared.err != nil {
		tb.Fatal(shared.err)
	}
	return shared.server
}

func startShared() {
	// Not a test's TempDir: the server outlives the test that came first.
	dir, err := os.MkdirTemp("", "redistest")
	if err != nil {
		shared.err = err
		return
	}
	if shared.server, shared.err = start(dir); shared.err != nil {
		_ = os.RemoveAll(dir)
	}
}

// Main runs the tests, stops the shared server and returns the exit status.
func Main(m *testing.M) int {
	defer stopShared()
	return m.Run()
}

func stopShared() {
	if s := shared.server; s != nil {
		s.kill()
		_ = os.RemoveAll(s.dir)
	}
}
