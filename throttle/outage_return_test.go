package throttle

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
)

// What was spent during an outage counts for as long as if the store had counted
// it: an outage of many windows doesn't close the budget after its end.
func TestSpendingOfALongOutageIsNotAllOfNow(t *testing.T) {
	const per = time.Second
	th, s, started, ended := outageThrottle(t, Config{Lanes: noWait, Budgets: testBudget(Requests(100, per))})
	admitted(th, 1, noWait[0])
	s.Pause(t)
	sent := 0
	for until := time.Now().Add(5 * per); time.Now().Before(until); time.Sleep(per / 40) {
		n, _ := admitted(th, 1, noWait[0])
		sent += n
	}
	<-started
	s.Continue(t)
	<-ended
	back := time.Now()
	for {
		if n, _ := admitted(th, 1, noWait[0]); n == 1 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if d := time.Since(back); sent < 100 || d > per/2 {
		t.Errorf("%d calls went in five windows without the store, and then none for %v, although less than half of the budget is in use", sent, d)
	}
}

func TestTheOldestSpendingIsForgottenFirst(t *testing.T) {
	limits := compileLimits([]Limit{Requests(10, time.Second), Requests(10, time.Minute), InFlight(5)}, noWait, "a")
	for _, tt := range []struct {
		name        string
		used        []float64
		spent, want [][]float64
		lowered     lackSet
	}{
		{"all is in use", []float64{7, 7, 0}, [][]float64{{3, 3, 0}, {4, 4, 0}}, [][]float64{{3, 3, 0}, {4, 4, 0}}, 0},
		{"of one limit", []float64{5, 7, 0}, [][]float64{{3, 3, 0}, {4, 4, 0}}, [][]float64{{1, 3, 0}, {4, 4, 0}}, 1},
		{"all of the first", []float64{2, 1, 0}, [][]float64{{3, 3, 0}, {4, 4, 0}}, [][]float64{{0, 0, 0}, {2, 1, 0}}, 3},
		{"what was given back later", []float64{5, 0, 0}, [][]float64{{9, 9, 0}, {-4, -4, 0}}, [][]float64{{9, 4, 0}, {-4, -4, 0}}, 2},
		{"calls in flight", []float64{7, 7, 0}, [][]float64{{3, 3, 2}, {4, 4, 2}}, [][]float64{{3, 3, 2}, {4, 4, 2}}, 0},
	} {
		got := lowerTo(tt.used, tt.spent, limits)
		if got != tt.lowered || !slices.EqualFunc(tt.spent, tt.want, slices.Equal[[]float64]) {
			t.Errorf("%s: %v of limits %b, want %v of %b", tt.name, tt.spent, got, tt.want, tt.lowered)
		}
	}
	s := booking{at: 5, lowered: 2}.correct(settlement{at: 1, delta: []float64{-3, -3, 2}, calls: 1, tenant: "a"})
	if !slices.Equal(s.delta, []float64{-3, 0, 2}) || s.at != 5 || s.calls != 0 || s.tenant != "a" {
		t.Errorf("a correction of what was perhaps never booked: %+v", s)
	}
}

// A process that finds the store back has the others look at once, and decides
// for itself while they may still have to.
func TestWhoComesBackFirstWaitsForTheOthers(t *testing.T) {
	server := redistest.Start(t)
	ends := make(chan time.Time, 8)
	fleet := make([]*Throttle, 2)
	for i := range fleet {
		store, err := NewRedisStore(server.Client(t), RedisOptions{Timeout: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		fleet[i] = testThrottle(t, Config{
			Store: store, Lanes: noWait, Budgets: testBudget(Requests(100, 24*time.Hour)), Instances: 2,
			Observe: func(e Event) {
				if e.Kind == EventOutageEnd {
					ends <- time.Now()
				}
			},
		})
		admitted(fleet[i], 1, noWait[0])
	}
	server.Pause(t)
	went := 2
	for until := time.Now().Add(3 * time.Second); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		for _, th := range fleet {
			n, _ := admitted(th, 10, noWait[0])
			went += n
		}
	}
	server.Continue(t)
	first := <-ends
	returning := 0
	for _, th := range fleet {
		q, _ := th.queueFor(&testCall)
		if th.outage.returning(q.a.id) {
			returning++
		}
		n, _ := admitted(th, 200, noWait[0])
		went += n
	}
	if returning == 0 {
		t.Error("who came back first doesn't wait for the others")
	}
	if last := <-ends; last.Sub(first) > time.Second {
		t.Errorf("the other found it %v later", last.Sub(first))
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		back := 0
		for _, th := range fleet {
			if q, _ := th.queueFor(&testCall); !th.outage.returning(q.a.id) {
				back++
			}
		}
		if back == len(fleet) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("a process still only tells the store")
		}
	}
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		n, _ := admitted(fleet[0], 200, noWait[0])
		if went += n; went >= 100 {
			break
		}
	}
	if n, _ := admitted(fleet[1], 200, noWait[0]); went+n != 100 {
		t.Errorf("%d calls of 100 went", went+n)
	}
}

// Where calls are refused during an outage, nobody waits for others after it.
func TestClosedLanesDontWaitForTheOthers(t *testing.T) {
	th, s, started, ended := outageThrottle(t, Config{Lanes: noWait, Budgets: testBudget(Requests(100, 24*time.Hour)), Instances: 5, Outage: OutageClosed})
	s.Pause(t)
	admitted(th, 1, noWait[0])
	<-started
	time.Sleep(500 * time.Millisecond)
	s.Continue(t)
	<-ended
	if _, err := th.Acquire(context.Background(), testCall); err != nil {
		t.Errorf("after the outage: %v", err)
	}
}

// That another process has found the store is a reason to look at once: a whole
// fleet then comes back together. The first that did is told by its own notice.
func TestOneThatIsBackHasTheOthersLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryStore()
		stores := make([]*fatedStore, 2)
		fleet := make([]*Throttle, 2)
		for i := range fleet {
			stores[i] = &fatedStore{remoteStore: remoteStore{countingStore{Store: memory}}}
			fleet[i] = testThrottle(t, Config{Store: stores[i], Lanes: noWait, Budgets: testBudget(Requests(100, 24*time.Hour))})
			fleet[i].outage.jitter = 0
			stores[i].set(true, 0)
			admitted(fleet[i], 1, noWait[0])
			time.Sleep(300 * time.Millisecond) // so that they look at different times
		}
		time.Sleep(20 * time.Second) // each looks once a second by now
		lasts := func(i int) bool {
			q, _ := fleet[i].queueFor(&testCall)
			return fleet[i].outage.down(q.a.id)
		}
		for _, s := range stores {
			s.set(false, 0)
		}
		for lasts(0) && lasts(1) {
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if lasts(0) || lasts(1) {
			t.Error("one is back and the other sleeps on")
		}
	})
}
