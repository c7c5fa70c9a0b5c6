package throttle

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

// forget has a memory store lose what it knows of the test's account.
func (m *MemoryStore) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.accounts, "k")
	delete(m.accounts, "@acme")
}

// forgetKeys has it lose the records of its keys alone.
func (m *MemoryStore) forgetKeys() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.accounts["k"].keys)
}

func forgetfulFleet(t *testing.T, n int) (*MemoryStore, []leaser) {
	t.Helper()
	memory := NewMemoryStore()
	var fleet []leaser
	for range n {
		fleet = append(fleet, newLeaser(t, memory, Config{Budgets: testBudget(Requests(10_000, 24*time.Hour))}))
	}
	return memory, fleet
}

// answered makes a call that must go and gets the answer.
func (l leaser) answered(t *testing.T, class Class) (probe bool) {
	t.Helper()
	p, _, err := l.try("live", 0)
	if err != nil {
		t.Fatal(err)
	}
	probe = p.Probe()
	p.Answered(Verdict{Class: class, Scope: ScopeKey})
	p.Done()
	return probe
}

func (l leaser) mustBeDenied(t *testing.T, reason error) {
	t.Helper()
	if p, _, err := l.try("live", 0); !errors.Is(err, reason) {
		p.Done()
		t.Fatalf("a call: %v, want %v", err, reason)
	}
}

func TestGenerationsGoOnOverALoss(t *testing.T) { // rule 12
	for name, lose := range map[string]func(*MemoryStore){"everything": (*MemoryStore).forget, "keys": (*MemoryStore).forgetKeys} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory, fleet := forgetfulFleet(t, 2)
				fleet[0].mustGo(t, "live", 0)
				fleet[1].mustGo(t, "live", 0)
				fleet[0].answered(t, KeyRefused)
				time.Sleep(5 * time.Minute)
				if !fleet[1].answered(t, OK) {
					t.Fatal("no probe")
				}
				lose(memory)
				fleet[0].answered(t, KeyRefused) // of the generation that everybody knows
				fleet[0].mustBeDenied(t, ErrKeyRefused)
				fleet[1].mustBeDenied(t, ErrKeyRefused)
			})
		})
	}
}

func TestARefusedKeyThatWasLostIsProbedOnce(t *testing.T) { // rules 8 and 12
	for name, lose := range map[string]func(*MemoryStore){"everything": (*MemoryStore).forget, "keys": (*MemoryStore).forgetKeys} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory, fleet := forgetfulFleet(t, 3)
				for _, l := range fleet {
					l.mustGo(t, "live", 0)
				}
				fleet[0].answered(t, KeyRefused)
				lose(memory)
				time.Sleep(5 * time.Minute)
				went := 0
				for range 20 {
					for _, l := range fleet {
						if p, _, err := l.try("live", 0); err == nil {
							went++
							if !p.Probe() {
								t.Fatal("a call went that isn't the probe")
							}
							p.Answered(Verdict{Class: KeyRefused})
							p.Done()
						}
					}
					time.Sleep(time.Second)
				}
				if went != 1 {
					t.Errorf("%d calls of a refused key went in its interval", went)
				}
			})
		})
	}
}

func TestTheAnswerOfAProbeCountsOverALoss(t *testing.T) { // rule 12
	for _, tt := range []struct {
		answer  Class
		told    bool // another process has told the store of the key before
		refused bool
	}{{OK, false, false}, {OK, true, false}, {KeyRefused, false, true}, {KeyRefused, true, true}} {
		synctest.Test(t, func(t *testing.T) {
			memory, fleet := forgetfulFleet(t, 2)
			for _, l := range fleet {
				l.mustGo(t, "live", 0)
			}
			fleet[0].answered(t, KeyRefused)
			time.Sleep(5 * time.Minute)
			p, _, err := fleet[0].try("live", 0)
			if err != nil || !p.Probe() {
				t.Fatalf("the probe: %v", err)
			}
			memory.forget()
			if tt.told {
				q, _ := fleet[1].queueFor(&testCall)
				q.mu.Lock()
				q.tellKeysLocked()
				q.kick()
				synctest.Wait()
			}
			p.Answered(Verdict{Class: tt.answer, Scope: ScopeKey})
			p.Done()
			synctest.Wait()
			for i, l := range fleet {
				if tt.refused {
					l.mustBeDenied(t, ErrKeyRefused)
				} else if p, _, err := l.try("live", 0); err != nil || p.Probe() {
					t.Errorf("%+v: process %d after the probe: %v", tt, i, err)
				}
			}
		})
	}
}

// A process that missed a pause, or that has just started, learns of it from
// one that knows, once that is told that the store has lost its memory.
func TestWhatOneProcessKnowsIsToldWhenAnotherFindsTheLoss(t *testing.T) { // rule 12
	for _, tt := range []struct {
		verdict Verdict
		reason  error
	}{
		{Verdict{Class: Busy, Scope: ScopeModel, Wait: 5 * time.Minute}, ErrPaused},
		{Verdict{Class: Busy, Scope: ScopeKey, Wait: 5 * time.Minute}, ErrPaused},
		{Verdict{Class: KeyRefused}, ErrKeyRefused},
		{Verdict{Class: ModelDenied, Scope: ScopeModel}, ErrModelDenied},
	} {
		t.Run(tt.verdict.Class.String()+" "+tt.verdict.Scope.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory, fleet := forgetfulFleet(t, 1)
				missed := &unheardStore{Store: memory}
				deaf := leaser{testThrottle(t, Config{Store: missed, Budgets: testBudget(Requests(10_000, 24*time.Hour)), Lanes: []lanes.Lane{{Name: "live", Share: 1}}}), nil}
				deaf.mustGo(t, "live", 0)
				p, _, err := fleet[0].try("live", 0)
				if err != nil {
					t.Fatal(err)
				}
				p.Answered(tt.verdict)
				p.Done()
				memory.forget()
				deaf.mustGo(t, "live", 0) // finds the loss: it knows how much was used
				synctest.Wait()
				deaf.mustBeDenied(t, tt.reason)
				late := newLeaser(t, memory, Config{Budgets: testBudget(Requests(10_000, 24*time.Hour))})
				late.mustBeDenied(t, tt.reason)
			})
		})
	}
}

// An unheardStore has no notices.
type unheardStore struct{ Store }

func (s *unheardStore) immediate() bool           { return false }
func (s *unheardStore) watch(func(notice)) func() { return func() {} }

func TestNothingIsSaidTwiceToAStoreThatForgot(t *testing.T) { // rule 12
	synctest.Test(t, func(t *testing.T) {
		memory, fleet := forgetfulFleet(t, 3)
		for _, l := range fleet {
			l.mustGo(t, "live", 0)
		}
		for range 3 {
			memory.forget()
			before := make([]int64, len(fleet))
			for i, l := range fleet {
				before[i] = l.store.claims.Load()
			}
			fleet[0].mustGo(t, "live", 0)
			time.Sleep(time.Second)
			for i, l := range fleet {
				// The call found the loss and came again; the others were told.
				if n := l.store.claims.Load() - before[i]; n != 2 {
					t.Errorf("process %d made %d claims after a loss, want 2", i, n)
				}
			}
			for _, l := range fleet {
				before := l.store.claims.Load()
				l.mustGo(t, "live", 0)
				if n := l.store.claims.Load() - before; n != 1 {
					t.Errorf("%d claims for the next call", n)
				}
			}
		}
	})
}
