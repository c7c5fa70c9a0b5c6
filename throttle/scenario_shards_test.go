package throttle

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/redis/go-redis/v9"
)

// A cluster of which one master is away: its accounts have an outage, and
// nobody else's.

type shardFleet struct {
	cluster        *redistest.Cluster
	keys           map[string]Fingerprint // one on each master, by its address
	th             *Throttle
	started, ended chan Event
}

func TestAnOutageIsThatOfOneShard(t *testing.T) { // B95
	f := shardFleet{cluster: redistest.StartCluster(t)}
	var observe func(Event)
	observe, f.started, f.ended = outageEvents()
	store, err := NewRedisStore(f.cluster.Client(t), RedisOptions{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	f.th = testThrottle(t, Config{
		Store: store, Lanes: noWait, Outage: OutageClosed, Observe: observe,
		Budgets: []Budget{{Models: []string{"*"}, Limits: []Limit{Requests(1_000_000, 24*time.Hour)}}},
	})
	nodes := f.cluster.Nodes()
	f.findAccounts(t)
	t.Run("hung", func(t *testing.T) {
		nodes[0].Pause(t)
		defer nodes[0].Continue(t)
		f.onlyAway(t, nodes[0])
		nodes[0].Continue(t)
		f.isBack(t, nodes[0])
	})
	t.Run("dead", func(t *testing.T) {
		nodes[1].Stop(t)
		f.onlyAway(t, nodes[1])
		nodes[1].Restart(t)
		f.cluster.AwaitReady(t)
		f.isBack(t, nodes[1])
	})
	t.Run("replaced by its replica", func(t *testing.T) { f.failsOver(t, nodes[2]) })
	t.Run("all of them", func(t *testing.T) { f.allAway(t, f.cluster.Nodes()) })
}

// findAccounts finds one on each of three masters.
func (f *shardFleet) findAccounts(t *testing.T) {
	t.Helper()
	f.keys = map[string]Fingerprint{}
	for i := 0; len(f.keys) < 3; i++ {
		key := Fingerprint(fmt.Sprint("key", i))
		f.keys[f.cluster.Owner(t, f.cluster.Slot(t, "headgate:{"+string(key)+"}")).Addr] = key
	}
}

func (f *shardFleet) acquire(key Fingerprint) error {
	p, err := f.th.Acquire(context.Background(), Call{Key: key, Model: "m"})
	p.Done()
	return err
}

// onlyAway fails the test unless calls of the accounts on a node are refused for
// want of the store, and all others go.
func (f *shardFleet) onlyAway(t *testing.T, away *redistest.Server) {
	t.Helper()
	var wg sync.WaitGroup
	refused := make(chan struct{})
	for addr, key := range f.keys {
		if addr == away.Addr {
			continue
		}
		wg.Go(func() {
			for n := 0; ; n++ {
				if err := f.acquire(key); err != nil {
					t.Errorf("another server's account: %v", err)
				}
				select {
				case <-refused:
					if n >= 100 {
						return
					}
				default:
				}
			}
		})
	}
	for range 20 {
		if err := f.acquire(f.keys[away.Addr]); !errors.Is(err, ErrStore) {
			t.Errorf("an account on the server that is away: %v", err)
		}
	}
	close(refused)
	wg.Wait()
	if e := <-f.started; e.Server != away.Addr || e.Err == nil {
		t.Errorf("the outage is said to be of %q: %v, want %s", e.Server, e.Err, away.Addr)
	}
	s, err := f.th.Status(context.Background())
	if err != nil || !s.Outage || len(s.Outages) != 1 || s.Outages[0].Server != away.Addr || s.Outages[0].Cause == nil || s.Outages[0].Since.IsZero() {
		t.Errorf("status: %+v, %v", s.Outages, err)
	}
	if len(f.started)+len(f.ended) > 0 {
		t.Errorf("%d more outages began and %d ended", len(f.started), len(f.ended))
	}
}

// isBack waits for the end of a node's outage, and fails the test unless its
// calls go then.
func (f *shardFleet) isBack(t *testing.T, node *redistest.Server) {
	t.Helper()
	f.awaitEnd(t, node.Addr)
	if err := f.acquire(f.keys[node.Addr]); err != nil {
		t.Errorf("after the outage: %v", err)
	}
	if s, _ := f.th.Status(context.Background()); s.Outage || s.Cause != nil || len(s.Outages) > 0 {
		t.Errorf("after the outage: %+v", s)
	}
}

func (f *shardFleet) awaitEnd(t *testing.T, addr string) {
	t.Helper()
	select {
	case e := <-f.ended:
		if e.Server != addr {
			t.Errorf("the outage of %q ended, want that of %s", e.Server, addr)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("the outage of %s doesn't end", addr)
	}
}

func (f *shardFleet) failsOver(t *testing.T, master *redistest.Server) {
	replica := f.cluster.AddEmptyMaster(t)
	if err := master.Client(t).ConfigSet(context.Background(), "repl-diskless-sync-delay", "0").Err(); err != nil {
		t.Fatal(err)
	}
	id := master.Client(t).ClusterMyID(context.Background()).Val()
	if err := replica.Client(t).ClusterReplicate(context.Background(), id).Err(); err != nil {
		t.Fatal(err)
	}
	key := f.keys[master.Addr]
	if err := f.acquire(key); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		info := replica.Client(t).InfoMap(context.Background(), "replication").Val()["Replication"]
		if info["master_link_status"] == "up" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the replica has no copy: %v", info)
		}
	}
	if n := master.Client(t).Wait(context.Background(), 1, 10*time.Second).Val(); n != 1 {
		t.Fatalf("%d replicas have the last write", n)
	}
	used := f.used(t, key)
	master.Stop(t)
	f.onlyAwayFrom(t, key, master.Addr)
	if err := replica.Client(t).Do(context.Background(), "CLUSTER", "FAILOVER", "TAKEOVER").Err(); err != nil {
		t.Fatal(err)
	}
	f.awaitEnd(t, master.Addr)
	if err := f.acquire(key); err != nil {
		t.Errorf("after the failover: %v", err)
	}
	if n := f.used(t, key); n != used+1 {
		t.Errorf("%d are used after the failover and a call, of %d before", n, used)
	}
}

// onlyAwayFrom fails the test unless the account's outage begins.
func (f *shardFleet) onlyAwayFrom(t *testing.T, key Fingerprint, addr string) {
	t.Helper()
	if err := f.acquire(key); !errors.Is(err, ErrStore) {
		t.Errorf("a call to a dead master: %v", err)
	}
	if e := <-f.started; e.Server != addr {
		t.Errorf("the outage is of %q, want %s", e.Server, addr)
	}
}

// used is what the store says of the account's limit.
func (f *shardFleet) used(t *testing.T, key Fingerprint) int64 {
	t.Helper()
	q, _ := f.th.queueFor(&Call{Key: key, Model: "m"})
	answers, err := f.th.store.look(context.Background(), []claim{{account: q.a.id, budget: q.id, limits: q.limits, own: q.own, dry: true}})
	if err != nil {
		t.Fatal(err)
	}
	return int64(answers[0].used[0])
}

func (f *shardFleet) allAway(t *testing.T, nodes []*redistest.Server) {
	f.findAccounts(t)
	keys := f.keys
	for _, n := range nodes {
		n.Stop(t)
	}
	for addr, key := range keys {
		if err := f.acquire(key); !errors.Is(err, ErrStore) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	for range keys {
		<-f.started
	}
	s, _ := f.th.Status(context.Background())
	if len(s.Outages) != len(keys) {
		t.Errorf("status: %+v", s.Outages)
	}
	for i, o := range s.Outages {
		if _, ok := keys[o.Server]; !ok || o.Cause == nil || o.Since.Before(s.Since) || i == 0 && o.Since != s.Since {
			t.Errorf("outage %d since %v of %v", i, o.Since, o)
		}
	}
}

// A client whose cluster or sentinels were never there.
func TestAStartWithoutAnyNodeIsBounded(t *testing.T) { // B87, B88
	for name, open := range map[string]func(addr string) redis.UniversalClient{
		"cluster": func(addr string) redis.UniversalClient {
			return redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{addr}, ReadTimeout: time.Hour, DialTimeout: time.Hour})
		},
		"sentinel": func(addr string) redis.UniversalClient {
			return redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "m", SentinelAddrs: []string{addr}, ReadTimeout: time.Hour, DialTimeout: time.Hour})
		},
	} {
		for _, refuses := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, refuses %v", name, refuses), func(t *testing.T) {
				nobody, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
				if err != nil {
					t.Fatal(err)
				}
				client := open(nobody.Addr().String())
				t.Cleanup(func() { _ = client.Close() })
				t.Cleanup(func() { _ = nobody.Close() }) // first, or the other would wait for an answer
				if refuses {
					_ = nobody.Close()
				}
				const wait = 300 * time.Millisecond
				start := time.Now()
				if _, err := newRedisStore(client, RedisOptions{}, wait); err == nil {
					t.Error("no error without any node")
				}
				store, err := newRedisStore(client, RedisOptions{StartWithout: true}, wait)
				if err != nil {
					t.Fatal(err)
				}
				th := testThrottle(t, Config{Store: store, Outage: OutageClosed, Lanes: noWait, Budgets: testBudget(Requests(1000, time.Hour))})
				refusedQuickly(t, th, 100)
				if s, _ := th.Status(context.Background()); !s.Outage || s.Cause == nil {
					t.Errorf("status: %+v", s)
				}
				_ = th.Close()
				_ = store.Close()
				if took := time.Since(start); took > 2*wait+muchLonger {
					t.Errorf("all of it took %v", took)
				}
			})
		}
	}
}
