package throttle

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func TestStatusHasTheLastHundredChangesNewestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := testThrottle(t, Config{Budgets: testBudget(Requests(1000, time.Hour))})
		start := time.Now()
		for i := range 130 {
			p, err := th.Acquire(context.Background(), Call{Key: Fingerprint(fmt.Sprint("key", i)), Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			p.Answered(Verdict{Class: KeyRefused, Scope: ScopeKey, Detail: "revoked"})
			p.Done()
			time.Sleep(time.Second)
		}
		s, err := th.Status(context.Background())
		if err != nil || len(s.Changes) != 100 {
			t.Fatalf("%d changes, %v", len(s.Changes), err)
		}
		for i, e := range s.Changes {
			want := 129 - i
			if e.Kind != EventKeyRefused || e.Key != Fingerprint(fmt.Sprint("key", want)) || e.Time.Sub(start) != time.Duration(want)*time.Second || e.Verdict.Detail != "revoked" {
				t.Fatalf("change %d is %+v, want that of key %d", i, e, want)
			}
		}
	})
}

func TestWhatChangesAPauseAKeyAndAModelIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := testThrottle(t, Config{Budgets: testBudget(Requests(1000, time.Hour))})
		ctx, c := context.Background(), Call{Key: "k", Model: "m"}
		acquire := func() Permit {
			p, err := th.Acquire(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		if err := th.Pause(ctx, c, ScopeModel, time.Minute); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		for range 2 { // the second finds nothing to end
			if err := th.Resume(ctx, c, ScopeModel); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		p := acquire()
		p.Answered(Verdict{Class: KeyRefused, Scope: ScopeKey})
		p.Done()
		time.Sleep(5 * time.Minute)
		p = acquire()
		p.Answered(Verdict{Class: OK})
		p.Done()
		p = acquire()
		p.Answered(Verdict{Class: ModelDenied, Scope: ScopeModel})
		p.Done()
		s, err := th.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range s.Changes {
			got = append(got, e.Kind.String())
		}
		if want := "model_denied key_opened probe key_refused resumed paused"; strings.Join(got, " ") != want {
			t.Errorf("changes %q, want %q", got, want)
		}
		if e := s.Changes[4]; e.Wait != 40*time.Second || e.Budget != "m" {
			t.Errorf("resumed: %+v, want 40 s of the budget m spared", e)
		}
	})
}

// Names and details come from callers and vendors.
func TestAChangeKeepsNoMoreThanTheBeginningOfALongName(t *testing.T) {
	for _, long := range []string{strings.Repeat("é", 1000), strings.Repeat("x", 1000), strings.Repeat("\xff", 1000)} {
		var c changes
		c.note(Event{Kind: EventPaused, Model: long, Verdict: Verdict{Detail: long}})
		e := c.latest()[0]
		for _, s := range []string{e.Model, e.Verdict.Detail} {
			if len(s) > maxChangeText+len("…") || !strings.HasSuffix(s, "…") || utf8.ValidString(long) != utf8.ValidString(s) {
				t.Errorf("kept %d bytes: %q", len(s), s)
			}
		}
	}
}
