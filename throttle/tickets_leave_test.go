package throttle

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

// usedWithin fails the test unless the call went within a tenth of a second
// after the instant.
func (f *waitingFleet) usedWithin(t *testing.T, name string, from time.Duration) {
	t.Helper()
	f.mu.Lock()
	at, went := f.at[name]
	f.mu.Unlock()
	if !went || at < from || at > from+100*time.Millisecond {
		t.Errorf("%s went: %v, after %v; the room was there after %v", name, went, at, from)
	}
}

func TestACancelledWaitWithdrawsItsTicketAndOthersUseTheRoom(t *testing.T) {
	for _, tt := range []struct {
		name    string
		account bool // the limit is the account's
		before  func(*waitingFleet)
	}{
		{"of a budget's limit", false, func(*waitingFleet) {}},
		{"of the account's limit", true, func(*waitingFleet) {}},
		{"with one of a lower lane behind it", false, func(f *waitingFleet) { f.enter(1, "low", low, 60) }},
		{"with a small one behind it that goes", false, func(f *waitingFleet) { f.enter(1, "behind", high, 5) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := Config{}
				if limit := Tokens(100, 24*time.Hour); tt.account {
					c.Account = []Limit{limit}
				} else {
					c.Budgets = testBudget(limit)
				}
				f := newWaitingFleet(t, 2, c)
				f.enter(0, "first", high, 50)
				cancel := f.enter(1, "big", high, 90)
				tt.before(f)
				f.enter(0, "small", high, 20) // there is room for it, but it came later
				time.Sleep(time.Second)
				cancel()
				cancelled := time.Since(f.start)
				time.Sleep(time.Second)
				f.usedWithin(t, "small", cancelled)
			})
		})
	}
}

func TestAWaitThatIsCancelledWhileItsClaimIsUnderWayLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWaitingFleet(t, 2, Config{Budgets: testBudget(Tokens(100, 24*time.Hour))})
		f.enter(0, "first", high, 50)
		f.stores[1].set(false, 100*time.Millisecond)
		ctx, leave := context.WithCancel(context.Background())
		go f.acquire(ctx, 1, "big", high, 90)
		time.Sleep(50 * time.Millisecond)
		leave()
		time.Sleep(time.Second)
		f.nothingLeft(t)
	})
}

// The same where somebody stands behind it in its own queue, who was told to
// wait for its room.
func TestThoseBehindAWaitCancelledUnderWayGoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWaitingFleet(t, 1, Config{Budgets: testBudget(Tokens(100, 24*time.Hour))})
		f.enter(0, "first", high, 50)
		f.stores[0].set(false, 100*time.Millisecond)
		ctx, leave := context.WithCancel(context.Background())
		f.enter(0, "pilot", atOnce, 0) // the others travel together behind it
		go f.acquire(ctx, 0, "big", high, 90)
		time.Sleep(time.Millisecond)
		go f.acquire(context.Background(), 0, "small", high, 20)
		time.Sleep(120 * time.Millisecond)
		leave()
		time.Sleep(time.Second)
		f.usedWithin(t, "small", 250*time.Millisecond)
	})
}

func TestWaitsThatEndBeforeTheirTurnLeaveNoTicket(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(*waitingFleet)
	}{
		{"by a pause that ends too late", func(f *waitingFleet) {
			_ = f.processes[0].Pause(context.Background(), testCall, ScopeModel, 48*time.Hour)
		}},
		{"by a refused key", func(f *waitingFleet) {
			q, _ := f.processes[0].queueFor(&testCall)
			q.answered(permitInfo{q: q, key: "k"}, Verdict{Class: KeyRefused})
		}},
		{"by a denied model", func(f *waitingFleet) {
			q, id := f.processes[0].queueFor(&testCall)
			q.answered(permitInfo{q: q, key: "k", model: "m", id: id}, Verdict{Class: ModelDenied, Scope: ScopeModel})
		}},
		{"by Close", func(f *waitingFleet) { _ = f.processes[1].Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newWaitingFleet(t, 2, Config{
					Lanes:   []lanes.Lane{{Name: "high", Share: 1, Wait: 24 * time.Hour}, low, atOnce},
					Budgets: testBudget(perSecond(1)), Account: []Limit{Tokens(100, time.Hour).Using(TokenBucket)},
				})
				f.enter(0, "first", high, 100)
				f.enter(1, "waits", high, 50)
				tt.end(f)
				time.Sleep(100 * time.Millisecond)
				f.nothingLeft(t)
			})
		})
	}
}

func TestACallThatFindsTheQueueFullLeavesNoTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newWaitingFleet(t, 2, Config{QueueLimit: 1, Budgets: testBudget(Tokens(100, 24*time.Hour))})
		f.enter(0, "first", high, 50)
		f.enter(1, "low", low, 90)
		f.enter(1, "too many", high, 90)
		f.enter(0, "small", high, 20)
		f.usedWithin(t, "small", 3*time.Millisecond)
	})
}
