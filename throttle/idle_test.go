package throttle

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"
)

func TestIdleAccountsAreForgottenAndTheirBudgetsAreNot(t *testing.T) {
	th := testThrottle(t, Config{Lanes: noWait, Budgets: testBudget(Requests(2, 24*time.Hour))})
	use := func(key string) (Permit, error) {
		return th.Acquire(context.Background(), Call{Key: Fingerprint(key), Model: "m"})
	}
	kept, err := use("first")
	if err != nil {
		t.Fatal(err)
	}
	refused, _ := use("refused")
	refused.Answered(Verdict{Class: KeyRefused})
	refused.Done()
	for i := range 2*maxAccounts + 100 {
		p, err := use(fmt.Sprint("key ", i))
		if err != nil {
			t.Fatal(err)
		}
		p.Done()
	}
	th.mu.Lock()
	accounts, routes := len(th.accounts), len(th.routes)
	_, known := th.accounts["refused"]
	_, first := th.accounts["first"]
	th.mu.Unlock()
	if accounts > maxAccounts+200 || routes > maxAccounts+200 {
		t.Errorf("%d accounts and %d routes are known", accounts, routes)
	}
	if known {
		t.Error("an idle account whose key is refused is still known")
	}
	if _, err := use("refused"); !errors.Is(err, ErrKeyRefused) {
		t.Errorf("a refused key that was forgotten here: %v", err)
	}
	if first {
		t.Error("an idle account is still known")
	}
	// The store has counted the first call, and its permit still settles.
	p, err := use("first")
	if err != nil {
		t.Fatal(err)
	}
	p.Done()
	if _, err := use("first"); err == nil {
		t.Error("a third call of two went: what was charged has been forgotten")
	}
	kept.Cancel()
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		if p, err = use("first"); err == nil {
			p.Done()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after the first was given back: %v", err)
		}
	}
}
