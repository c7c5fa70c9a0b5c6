package throttle

import (
	"context"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/faultproxy"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/redis/go-redis/v9"
)

// Room is given back while the only process that waits for it can't be told,
// and nothing else happens that would tell it.
func TestAWaiterWhoseNoticeIsLostStillGoes(t *testing.T) { // B147
	server := redistest.Start(t)
	proxy := faultproxy.New(t, server.Addr)
	client := redis.NewClient(&redis.Options{Addr: proxy.Addr})
	t.Cleanup(func() { _ = client.Close() })
	cfg := Config{Lanes: waitsLong, Budgets: testBudget(Requests(1, 24*time.Hour))}
	a, b := cfg, cfg
	a.Store, b.Store = storeOn(t, server.Client(t)), storeOn(t, client)
	first, second := testThrottle(t, a), testThrottle(t, b)
	p, err := first.Acquire(context.Background(), testCall)
	if err != nil {
		t.Fatal(err)
	}
	went := make(chan error, 1)
	go func() {
		_, err := second.Acquire(context.Background(), testCall)
		went <- err
	}()
	q, _ := second.queueFor(&testCall)
	for settled := 0; settled == 0; { // until it has been told to wait
		q.mu.Lock()
		settled = q.room.Len() - q.room.Fresh()
		q.mu.Unlock()
	}
	proxy.RefuseNew()
	proxy.CutAll()
	p.Cancel()
	fq, _ := first.queueFor(&testCall)
	if err := settled(fq); err != nil {
		t.Fatal(err)
	}
	proxy.Pass()
	select {
	case err := <-went: // by time alone it would be tomorrow
		if err != nil {
			t.Error(err)
		}
	case <-time.After(40 * time.Second):
		t.Error("the room that was given back is not used")
	}
}
