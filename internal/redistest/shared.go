package redistest

import (
	"os"
	"sync"
	"testing"
)

// Shared returns the server that all tests of the binary use. Tests keep
// apart by key prefixes of their own, and must not flush, stop or freeze it.
// The package's TestMain must call Main.
func Shared(tb testing.TB) *Server {
	tb.Helper()
	s, err := sharedServer()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// SharedCluster is Shared for a cluster: tests must neither flush it, nor stop
// its nodes, nor move its slots.
func SharedCluster(tb testing.TB) *Cluster {
	tb.Helper()
	c, err := sharedCluster()
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// SharedSentinel is Shared for a master with its replicas and sentinels: tests
// must neither flush it nor stop any of its servers.
func SharedSentinel(tb testing.TB) *Sentinel {
	tb.Helper()
	s, err := sharedSentinel()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Each is started by whoever asks first.
var (
	sharedServer   = sync.OnceValues(func() (*Server, error) { return startShared(start) })
	sharedCluster  = sync.OnceValues(func() (*Cluster, error) { return startShared(startCluster) })
	sharedSentinel = sync.OnceValues(func() (*Sentinel, error) { return startShared(startSentinel) })
)

// atEnd is what Main does when the tests are over.
var atEnd struct {
	sync.Mutex
	do []func()
}

func startShared[T interface{ kill() }](start func(dir string) (T, error)) (T, error) {
	// Not a test's TempDir: what is shared outlives the test that came first.
	dir, err := os.MkdirTemp("", "redistest")
	if err != nil {
		var none T
		return none, err
	}
	v, err := start(dir)
	if err != nil {
		_ = os.RemoveAll(dir)
		return v, err
	}
	atEnd.Lock()
	defer atEnd.Unlock()
	atEnd.do = append(atEnd.do, func() {
		v.kill()
		_ = os.RemoveAll(dir)
	})
	return v, nil
}

// Main runs the tests, stops what they shared and returns the exit status.
func Main(m *testing.M) int {
	defer stopShared()
	return m.Run()
}

func stopShared() {
	atEnd.Lock()
	defer atEnd.Unlock()
	for _, do := range atEnd.do {
		do()
	}
}
