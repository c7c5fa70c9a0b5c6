package probe_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/probe"
)

var errAway = errors.New("the store is away")

// A script answers the tries of a Loop in order and notes when they came.
type script struct {
	start time.Time
	tries []answer
	at    []time.Duration
}

type answer struct {
	next time.Duration
	open bool
	err  error
}

// try answers as written, and after the last line with the last one.
func (s *script) try(context.Context) (time.Duration, bool, error) {
	a := s.tries[min(len(s.at), len(s.tries)-1)]
	s.at = append(s.at, time.Since(s.start))
	return a.next, a.open, a.err
}

func run(ctx context.Context, every time.Duration, tries ...answer) *script {
	s := &script{start: time.Now(), tries: tries}
	probe.Loop(ctx, every, s.try)
	return s
}

func TestTheFirstTryIsAtOnceAndAnOpenKeyEndsTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := run(t.Context(), time.Minute, answer{open: true})
		if len(s.at) != 1 || s.at[0] != 0 || time.Since(s.start) != 0 {
			t.Errorf("tries at %v, ended after %v, want one at once", s.at, time.Since(s.start))
		}
	})
}

func TestOpenEndsTheLoopEvenWithAnErrorOrALaterProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := run(t.Context(), time.Minute, answer{next: time.Hour, open: true, err: errAway})
		if len(s.at) != 1 {
			t.Errorf("%d tries, want 1", len(s.at))
		}
	})
}

// No try comes before the instant that the last one named, nor more than a
// twentieth of every after it, and processes don't ask in step.
func TestTriesComeAtTheNamedInstantAndATwentiethOfEveryLaterAtMost(t *testing.T) {
	for _, every := range []time.Duration{time.Second, time.Minute, probe.DefaultEvery, 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			waits := []time.Duration{every, every / 3, 0, every, -time.Hour, 2 * every}
			seen := map[time.Duration]bool{}
			for range 50 {
				var tries []answer
				for _, w := range waits {
					tries = append(tries, answer{next: w})
				}
				s := run(t.Context(), every, append(tries, answer{open: true})...)
				for i, w := range waits {
					late := s.at[i+1] - s.at[i] - max(0, w)
					if late < 0 || late > every/20 {
						t.Fatalf("every %v: asked %v after the instant named, want 0 to %v", every, late, every/20)
					}
					seen[late] = true
				}
			}
			if len(seen) < 290 {
				t.Errorf("every %v: %d distinct delays in 300 tries, want them spread", every, len(seen))
			}
		})
	}
}

func TestErrorsBackOffUpToEvery(t *testing.T) {
	for _, every := range []time.Duration{200 * time.Millisecond, 10 * time.Second, 5 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			tries := make([]answer, 40)
			for i := range tries {
				tries[i].err = errAway
			}
			s := run(t.Context(), every, append(tries, answer{open: true})...)
			first, last := s.at[1], s.at[40]-s.at[39]
			if first <= 0 || first > min(every, 1500*time.Millisecond) {
				t.Errorf("every %v: first retry after %v, want about a second, at most every", every, first)
			}
			if last < every/2 {
				t.Errorf("every %v: retry 40 only %v after the one before", every, last)
			}
			for i, at := range s.at[1:] {
				if wait := at - s.at[i]; wait > every {
					t.Errorf("every %v: try %d came %v after the one before", every, i+1, wait)
				}
			}
		})
	}
}

func TestASuccessfulTryStartsTheBackoffAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const every = 5 * time.Minute
		tries := make([]answer, 22)
		for i := range tries {
			tries[i].err = errAway
		}
		tries[20] = answer{next: every}
		s := run(t.Context(), every, append(tries, answer{open: true})...)
		if wait := s.at[22] - s.at[21]; wait > 1500*time.Millisecond {
			t.Errorf("first error after a success waits %v, want about a second", wait)
		}
	})
}

// The bubble fails the test if the loop's goroutine or timer outlives it.
func TestTheContextEndsTheLoopAtOnce(t *testing.T) {
	for name, a := range map[string]answer{"waiting for the next probe": {next: time.Hour}, "backing off": {err: errAway}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan time.Time, 1)
				go func() {
					run(ctx, time.Hour, a)
					ended <- time.Now()
				}()
				synctest.Wait()
				stop := time.Now()
				cancel()
				if end := <-ended; end != stop {
					t.Errorf("ended %v after its context", end.Sub(stop))
				}
			})
		})
	}
}

// A probe begun for a context that has ended would be lost, and the key with
// it for a whole interval.
func TestNothingIsTriedOnceTheContextHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 100 {
			if s := run(ctx, time.Minute, answer{open: true}); len(s.at) != 0 {
				t.Fatal("tried with an ended context")
			}
		}
	})
}

func TestTheTryGetsTheLoopsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		ctx := context.WithValue(t.Context(), key{}, "mark")
		probe.Loop(ctx, time.Minute, func(ctx context.Context) (time.Duration, bool, error) {
			if ctx.Value(key{}) != "mark" {
				t.Error("another context")
			}
			return 0, true, nil
		})
	})
}
