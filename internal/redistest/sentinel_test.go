package redistest

import (
	"slices"
	"testing"
)

func TestSentinelReplacesAKilledMaster(t *testing.T) {
	t.Parallel()
	s := StartSentinel(t)
	c := s.Client(t)
	if err := c.Set(t.Context(), "k", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.AwaitSync(t)
	old := s.KillMaster(t)
	m := s.AwaitFailover(t, old)
	if m == old || m != s.Master(t) {
		t.Errorf("the new master is %s, the old one was %s", m.Addr, old.Addr)
	}
	if got, err := c.Get(t.Context(), "k").Result(); got != "1" || err != nil {
		t.Errorf("the client reads %q, error %v", got, err)
	}
	if err := c.Set(t.Context(), "k", 2, 0).Err(); err != nil {
		t.Errorf("the client can't write: %v", err)
	}

	old.Restart(t)
	s.AwaitReplica(t, old)
	if err := old.do("SET", "k", 3).Err(); !isError(err, "READONLY") {
		t.Errorf("the old master answers %v to a write, want READONLY", err)
	}
	s.AwaitSync(t)
	m = s.AwaitFailover(t, s.KillMaster(t))
	if got := m.do("GET", "k").Val(); got != "2" {
		t.Errorf("after the second failover the key is %v, want 2", got)
	}
}

func TestTwoSentinelsReplaceAFrozenMaster(t *testing.T) {
	t.Parallel()
	s := StartSentinel(t)
	s.Sentinels()[0].Stop(t)
	old := s.Master(t)
	old.Pause(t)
	m := s.AwaitFailover(t, old)
	if m == old {
		t.Errorf("the master is still %s", old.Addr)
	}
	old.Continue(t)
	s.AwaitReplica(t, old)
	s.Sentinels()[0].Restart(t)
	if got := s.Master(t); got != m { // all three agree
		t.Errorf("the master is %s, want %s", got.Addr, m.Addr)
	}
}

func TestSharedSentinelIsOneSetOfServers(t *testing.T) {
	t.Parallel()
	s := SharedSentinel(t)
	if other := SharedSentinel(t); s != other {
		t.Error("SharedSentinel started two sets of servers")
	}
	key := t.Name()
	set(t, s.Master(t), key, "1")
	if got, err := s.Client(t).Get(t.Context(), key).Result(); got != "1" || err != nil {
		t.Errorf("the client reads %q, error %v", got, err)
	}
	if got, want := s.KeysWithoutExpiry(t), []string{key}; !slices.Equal(got, want) {
		t.Errorf("keys without an expiry are %v, want %v", got, want)
	}
}
