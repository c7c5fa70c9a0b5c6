//go:build unix

package throttle_test

import (
	"bytes"
	"context"
	"flag"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

var soakTime = flag.Duration("soak.for", 4*time.Second, "run the soak for so long")

// After any time of faults everything is as it was before: nothing is counted
// as used, nobody waits, and goroutines, heap and keys are as many as there
// were.
func TestAFleetForgetsAllFaultsInTheEnd(t *testing.T) { // B114, B126, B158
	goroutines := runtime.NumGoroutine()
	t.Run("soak", func(t *testing.T) {
		s := newSoak(t)
		s.warmUp()
		before := s.measure()
		end := time.After(*soakTime)
		ctx, cease := context.WithCancel(context.Background())
		s.call(ctx)
		s.harm(end)
		cease()
		s.heal()
		s.wantNothingUsed()
		s.wantSame(before)
		s.wantCallsToGo()
		s.report(before)
	})
	if !soon(func() bool { return runtime.NumGoroutine() <= goroutines+2 }) {
		t.Errorf("%d goroutines after all is closed, %d before", runtime.NumGoroutine(), goroutines)
	}
}

// soon reports whether something became true in a time that is more than enough.
func soon(is func() bool) bool {
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}

// A footprint is what a fleet takes up.
type footprint struct {
	goroutines int
	heap       int64
	keys       map[string]bool
}

func (s *soaked) measure() footprint {
	// How many idle connections a client has is its own affair.
	for _, p := range s.proxies {
		p.CutAll()
	}
	f := footprint{goroutines: ownGoroutines(), heap: heapInUse(), keys: map[string]bool{}}
	names, err := s.direct.Keys(context.Background(), "*").Result()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range names {
		f.keys[name] = true
	}
	return f
}

// beyond are the keys that weren't there before.
func (f *footprint) beyond(before footprint) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(f.keys)), func(name string) bool { return before.keys[name] })
}

// ownGoroutines counts those that don't serve a proxy's connections.
func ownGoroutines() int {
	stacks := make([]byte, 4<<20)
	n := 0
	for _, stack := range bytes.Split(stacks[:runtime.Stack(stacks, true)], []byte("\n\n")) {
		if !bytes.Contains(stack, []byte("faultproxy.(*")) {
			n++
		}
	}
	return n
}

// heal ends what the faults have left: workers end their load, the proxies
// pass, and keys that are refused are tried until a probe has opened them.
func (s *soaked) heal() {
	s.callers.Wait()
	for _, p := range s.proxies {
		p.Pass()
	}
	for _, w := range s.workers {
		var n int64
		w.Call(s.t, "Cease", 0, &n)
		s.went.Add(n)
	}
	for i, th := range s.fleet {
		if err := th.SetBudgets(soakBudgets(0)); err != nil {
			s.t.Error(err)
		}
		if !soon(func() bool { st, _ := th.Status(context.Background()); return !st.Outage && st.Waiting == 0 }) {
			st, err := th.Status(context.Background())
			s.t.Errorf("process %d: %d calls wait, an outage: %v (%v), %v", i, st.Waiting, st.Outage, st.Cause, err)
		}
	}
	for _, c := range soakCalls() {
		if !soon(func() bool { return s.opens(c) }) {
			s.t.Errorf("no call of %s goes any more for %s", c.Key, c.Model)
		}
	}
}

// opens makes one call that is answered well.
func (s *soaked) opens(c throttle.Call) bool {
	p, err := s.fleet[0].Acquire(context.Background(), c)
	if err != nil {
		return false
	}
	p.Answered(throttle.Verdict{Class: throttle.OK})
	p.Done()
	return true
}

// wantNothingUsed waits until the windows that the last calls were charged to
// have passed, and wants nothing to be counted any more.
func (s *soaked) wantNothingUsed() {
	s.t.Helper()
	var left []throttle.LimitStatus
	began := time.Now()
	defer func() { s.t.Logf("nothing was counted any more after %v", time.Since(began).Round(time.Millisecond)) }()
	if !soon(func() bool {
		for _, c := range soakCalls() {
			_ = s.observer.Check(context.Background(), c) // it knows of the budget then
		}
		st, err := s.observer.Status(context.Background())
		left = nil
		for _, b := range st.Budgets {
			for _, l := range b.Limits {
				if l.Used != 0 {
					left = append(left, l)
				}
			}
		}
		return err == nil && len(st.Budgets) > 0 && len(st.Budgets[0].Limits) > 0 && len(left) == 0
	}) {
		s.t.Errorf("in the end there is still counted %+v", left)
	}
}

func (s *soaked) wantSame(before footprint) {
	s.t.Helper()
	soon(func() bool { // the last connections are being given up, the last records expire
		s.after = s.measure()
		return s.after.goroutines <= before.goroutines+4 && len(s.after.beyond(before)) == 0
	})
	after := s.after
	if after.goroutines > before.goroutines+4 {
		stacks := make([]byte, 1<<20)
		s.t.Errorf("%d goroutines, %d before:\n%s", after.goroutines, before.goroutines, stacks[:runtime.Stack(stacks, true)])
	}
	if after.heap > before.heap+4<<20 {
		s.t.Errorf("%d bytes in use, %d before", after.heap, before.heap)
	}
	if more := after.beyond(before); len(more) > 0 {
		s.t.Errorf("there are keys that were not there before: %q", more)
	}
	s.wantEveryKeyToExpire()
	for i, th := range s.fleet {
		if n := s.outages[i].Load(); n != 0 {
			s.t.Errorf("process %d has told of %d more beginnings of outages than ends", i, n)
		}
		st, err := th.Status(context.Background())
		if st.Waiting != 0 || st.Outage || len(st.Keys) > 0 || err != nil {
			s.t.Errorf("process %d: %+v, %v", i, st, err)
		}
	}
}

// wantCallsToGo wants every call of every process to go at once.
func (s *soaked) wantCallsToGo() {
	s.t.Helper()
	for i, th := range append(s.fleet, s.observer) {
		for _, c := range soakCalls() {
			for _, lane := range soakLanes() {
				c.Lane = lanes.Lane{Name: lane.Name}
				start := time.Now()
				p, err := th.Acquire(context.Background(), c)
				if took := time.Since(start); err != nil || took > 2*time.Second {
					s.t.Errorf("process %d: after %v a call of %s in %s: %v", i, took, c.Model, lane.Name, err)
				}
				p.Cancel()
			}
		}
	}
}
