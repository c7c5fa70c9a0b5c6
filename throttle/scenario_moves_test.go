package throttle

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/redis/go-redis/v9"
)

// Servers that change their places: slots of a cluster, masters and replicas.

// outageEvents returns an Observe that passes the starts and ends of outages on.
func outageEvents() (observe func(Event), started, ended chan Event) {
	started, ended = make(chan Event, 100), make(chan Event, 100)
	return func(e Event) {
		switch e.Kind {
		case EventOutageStart:
			started <- e
		case EventOutageEnd:
			ended <- e
		}
	}, started, ended
}

// storeOn is a store of a generous timeout on a client.
func storeOn(t testing.TB, client redis.UniversalClient) *RedisStore {
	t.Helper()
	store, err := NewRedisStore(client, RedisOptions{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func TestSlotsMayMove(t *testing.T) { // B95
	cluster := redistest.StartCluster(t)
	t.Run("to an empty master under load", func(t *testing.T) { slotsMoveUnderLoad(t, cluster) })
	t.Run("and hold up their own account only", func(t *testing.T) { aSlotOnItsWay(t, cluster) })
}

func slotsMoveUnderLoad(t *testing.T, cluster *redistest.Cluster) {
	const accounts, moved, amount = 50, 6, 40
	observe, started, _ := outageEvents()
	th := testThrottle(t, Config{
		Store: storeOn(t, cluster.Client(t)), Lanes: noWait, Outage: OutageClosed, Observe: observe,
		Budgets: []Budget{{Models: []string{"*"}, Limits: []Limit{Requests(amount, 24*time.Hour)}}},
	})
	callOf := func(i int) Call { return Call{Key: Fingerprint(fmt.Sprint("key", i)), Model: fmt.Sprint("m", i)} }
	empty := cluster.AddEmptyMaster(t)
	var went [accounts]atomic.Int64
	var wg sync.WaitGroup
	begun := make(chan struct{}, 4*amount)
	for w := range 4 {
		wg.Go(func() {
			for range amount / 4 {
				for i := w; i < w+accounts; i++ {
					if _, err := th.Acquire(context.Background(), callOf(i%accounts)); err != nil {
						t.Errorf("account %d: %v", i%accounts, err)
						return
					}
					went[i%accounts].Add(1)
				}
				begun <- struct{}{}
			}
		})
	}
	<-begun
	for i := range moved {
		slot := cluster.Slot(t, "headgate:{key"+fmt.Sprint(i)+"}")
		move := cluster.BeginMove(t, slot, cluster.Owner(t, slot), empty)
		if keys := move.Keys(t); i%2 == 0 && len(keys) > 0 {
			move.MoveKeys(t, keys[0])
		}
		move.Finish(t)
	}
	wg.Wait()
	for i := range accounts {
		if _, err := th.Acquire(context.Background(), callOf(i)); !errors.Is(err, ErrBudget) {
			t.Errorf("account %d: after %d calls of %d: %v", i, went[i].Load(), amount, err)
		}
	}
	if len(started) > 0 {
		t.Errorf("an outage: %v", (<-started).Err)
	}
}

// While a slot is on its way a server can't serve a claim whose records are
// partly there: that account's calls wait, and nobody else's.
func aSlotOnItsWay(t *testing.T, cluster *redistest.Cluster) {
	observe, started, _ := outageEvents()
	th := testThrottle(t, Config{
		Store: storeOn(t, cluster.Client(t)), Lanes: noWait, Outage: OutageClosed, Observe: observe, Budgets: testBudget(Requests(10, 24*time.Hour)),
	})
	acquire := func(key Fingerprint) error {
		_, err := th.Acquire(context.Background(), Call{Key: key, Model: "m"})
		return err
	}
	if err := acquire("moving"); err != nil {
		t.Fatal(err)
	}
	nodes := cluster.Nodes()
	slot := cluster.Slot(t, "headgate:{moving}")
	from, to := cluster.Owner(t, slot), nodes[0]
	if from == to {
		to = nodes[1]
	}
	move := cluster.BeginMove(t, slot, from, to)
	went := make(chan error, 1)
	go func() { went <- acquire("moving") }()
	for i := range 50 {
		if err := acquire(Fingerprint(fmt.Sprint("other", i))); err != nil {
			t.Fatalf("another account: %v", err)
		}
	}
	move.Finish(t)
	if err := <-went; err != nil {
		t.Errorf("the account that moved: %v", err)
	}
	if err := acquire("moving"); err != nil {
		t.Errorf("the account that moved, afterwards: %v", err)
	}
	if len(started) > 0 {
		t.Errorf("an outage: %v", (<-started).Err)
	}
}

func TestAFreshMasterIsSentTheScriptAndGrantsWhatIsLeft(t *testing.T) { // B94
	const amount = 200
	sentinel := redistest.StartSentinel(t)
	observe, started, ended := outageEvents()
	th := testThrottle(t, Config{
		Store: storeOn(t, sentinel.Client(t)), Lanes: noWait, Outage: OutageClosed, Observe: observe, Budgets: testBudget(Requests(amount, 24*time.Hour)),
	})
	if n, err := admitted(th, amount/2, noWait[0]); n != amount/2 {
		t.Fatal(err)
	}
	sentinel.AwaitSync(t)
	old := sentinel.KillMaster(t)
	var went atomic.Int64
	full := make(chan struct{})
	var once sync.Once
	stop := hammer(th, func(err error) {
		switch {
		case err == nil:
			went.Add(1)
		case errors.Is(err, ErrBudget):
			once.Do(func() { close(full) })
		case !errors.Is(err, ErrStore):
			t.Error(err)
		}
	})
	<-full
	stop()
	if n := went.Load(); n != amount/2 {
		t.Errorf("%d calls went after the failover, want what was left, %d", n, amount/2)
	}
	// None, where the client has found the new master within a claim's time.
	if len(ended) != len(started) {
		t.Errorf("%d outages began and %d ended", len(started), len(ended))
	}
	stats := sentinel.AwaitFailover(t, old).Client(t).InfoMap(context.Background(), "commandstats").Val()["Commandstats"]
	if eval := stats["cmdstat_eval"]; !strings.HasPrefix(eval, "calls=1,") && !strings.HasPrefix(eval, "calls=2,") { // with that of the live processes
		t.Errorf("scripts were sent to the new master: %q, want one or two", eval)
	}
}

func TestConnectionsToADemotedMasterAreGivenUp(t *testing.T) { // B102
	old, next := redistest.Start(t), redistest.Start(t)
	follow(t, next, old)
	var addr atomic.Value // where the service's name leads; open connections stay
	addr.Store(old.Addr)
	client := redis.NewClient(&redis.Options{Addr: "redis.example:6379", Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, addr.Load().(string))
	}})
	t.Cleanup(func() { _ = client.Close() })
	observe, started, ended := outageEvents()
	th := testThrottle(t, Config{
		Store: storeOn(t, client), Lanes: noWait, Outage: OutageClosed, Observe: observe, Budgets: testBudget(Requests(10, 24*time.Hour)),
	})
	if n, err := admitted(th, 4, noWait[0]); n != 4 {
		t.Fatal(err)
	}
	if n := old.Client(t).Wait(context.Background(), 1, 10*time.Second).Val(); n != 1 {
		t.Fatalf("%d replicas have the last write", n)
	}
	if err := next.Client(t).ReplicaOf(context.Background(), "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	follow(t, old, next)
	if n, err := admitted(th, 1, noWait[0]); n != 0 || !errors.Is(err, ErrStore) {
		t.Errorf("with all connections on the demoted one: %d calls went, %v", n, err)
	}
	if e := <-started; !redis.HasErrorPrefix(e.Err, "READONLY") {
		t.Errorf("the outage is said to be %v", e.Err)
	}
	addr.Store(next.Addr)
	<-ended
	if n, err := admitted(th, 10, noWait[0]); n != 6 || !errors.Is(err, ErrBudget) {
		t.Errorf("%d more calls of ten went after four: %v", n, err)
	}
}

// follow makes a server the replica of another, and returns once it has its copy.
func follow(t testing.TB, replica, master *redistest.Server) {
	t.Helper()
	host, port, err := net.SplitHostPort(master.Addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := master.Client(t).ConfigSet(context.Background(), "repl-diskless-sync-delay", "0").Err(); err != nil {
		t.Fatal(err)
	}
	if err := replica.Client(t).ReplicaOf(context.Background(), host, port).Err(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		info := replica.Client(t).InfoMap(context.Background(), "replication").Val()["Replication"]
		if info["role"] == "slave" && info["master_link_status"] == "up" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s doesn't follow %s: %v", replica.Addr, master.Addr, info)
		}
	}
}
