package throttle

import (
	"errors"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
)

func TestAFailoverUnderSentinelIsAnOutageThatEnds(t *testing.T) { // B102
	sentinel := redistest.StartSentinel(t)
	store, err := NewRedisStore(sentinel.Client(t), RedisOptions{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	started, ended := make(chan Event, 100), make(chan Event, 100)
	th := testThrottle(t, Config{
		Store: store, Lanes: noWait, Outage: OutageClosed, Budgets: testBudget(Requests(10, 24*time.Hour)),
		Observe: func(e Event) {
			switch e.Kind {
			case EventOutageStart:
				started <- e
			case EventOutageEnd:
				ended <- e
			}
		},
	})
	if n, err := admitted(th, 4, noWait[0]); n != 4 {
		t.Fatal(err)
	}
	sentinel.AwaitSync(t)
	old := sentinel.KillMaster(t)
	for len(started) == 0 { // until a call finds out
		if n, err := admitted(th, 1, noWait[0]); n == 0 && !errors.Is(err, ErrStore) {
			t.Fatal(err)
		}
	}
	sentinel.AwaitFailover(t, old)
	<-ended
	// The replica knew what was charged, and a call in the moment between may
	// have been charged and lost.
	if n, _ := admitted(th, 20, noWait[0]); n < 5 || n > 6 {
		t.Errorf("%d more calls of ten went, after four", n)
	}
}
