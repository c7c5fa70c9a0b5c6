package redistest

import (
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
)

// MasterName is what sentinels call the master.
const MasterName = "headgate"

// A Sentinel is a master with two replicas, and three sentinels of which two
// decide that the master is down, once it was silent for a second, and make a
// replica the next one. Its methods are safe for concurrent use; each fails the
// test it is given if the servers don't do as asked.
type Sentinel struct {
	dir       string
	servers   []*Server // the first master first
	sentinels []*Server
}

// StartSentinel runs the servers for one test and stops them when it ends.
func StartSentinel(tb testing.TB) *Sentinel {
	tb.Helper()
	s, err := startSentinel(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.kill)
	return s
}

// Servers returns the master and the replicas, in an order that failovers
// don't change.
func (s *Sentinel) Servers() []*Server { return slices.Clone(s.servers) }

// Sentinels returns the sentinels, which may be stopped and restarted. A frozen
// one has the methods wait for its opinion in vain.
func (s *Sentinel) Sentinels() []*Server { return slices.Clone(s.sentinels) }

// SentinelAddrs returns the addresses of the sentinels.
func (s *Sentinel) SentinelAddrs() []string {
	var addrs []string
	for _, x := range s.sentinels {
		addrs = append(addrs, x.Addr)
	}
	return addrs
}

// Client returns a client that asks the sentinels for the master, closed when
// the test ends.
func (s *Sentinel) Client(tb testing.TB) redis.UniversalClient {
	tb.Helper()
	c := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: MasterName, SentinelAddrs: s.SentinelAddrs()})
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// Master returns the master that the sentinels name, once they agree. That is
// the old one until they have noticed that it is down.
func (s *Sentinel) Master(tb testing.TB) (m *Server) {
	tb.Helper()
	err := poll("master", func() (err error) {
		m, err = s.master()
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// KeysWithoutExpiry returns the keys that the master would keep for ever.
func (s *Sentinel) KeysWithoutExpiry(tb testing.TB) []string {
	tb.Helper()
	return s.Master(tb).KeysWithoutExpiry(tb)
}

// AwaitSync returns once the replicas that run have all that the master has
// now, so that a failover loses none of it.
func (s *Sentinel) AwaitSync(tb testing.TB) {
	tb.Helper()
	m := s.Master(tb)
	role, err := m.role()
	if err != nil {
		tb.Fatalf("redistest: %v", err)
	}
	if err := poll("sync", func() error { return s.reached(m, role.offset) }); err != nil {
		tb.Fatal(err)
	}
}

// KillMaster stops the master and returns it. AwaitFailover tells when there
// is another.
func (s *Sentinel) KillMaster(tb testing.TB) *Server {
	tb.Helper()
	m := s.Master(tb)
	m.Stop(tb)
	return m
}

// AwaitFailover returns the new master once the sentinels name another than
// old, it serves as one, and the servers that run, except old, follow it. What
// old never passed on before it went is lost.
func (s *Sentinel) AwaitFailover(tb testing.TB, old *Server) *Server {
	tb.Helper()
	if err := poll("failover", func() error { return s.failedOver(old) }); err != nil {
		tb.Fatal(err)
	}
	return s.Master(tb)
}

// AwaitReplica returns once a server follows the master. A master that comes
// back after a failover takes writes for a second or so, which are lost when
// it is told.
func (s *Sentinel) AwaitReplica(tb testing.TB, replica *Server) {
	tb.Helper()
	if err := poll("replica", func() error { return s.follows(replica) }); err != nil {
		tb.Fatal(err)
	}
}

func (s *Sentinel) kill() {
	for _, x := range slices.Concat(s.sentinels, s.servers) {
		x.kill()
	}
}
