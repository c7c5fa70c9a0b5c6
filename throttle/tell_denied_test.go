package throttle

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

// linesOf are the lines of a log about denials.
func linesOf(log *bytes.Buffer) (lines []string) {
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "a call is denied") {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestTheFirstDenialOfABudgetAndAWindowIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		th := testThrottle(t, Config{
			Logger: slog.New(slog.NewTextHandler(&log, nil)), Lanes: []lanes.Lane{{Name: "now", Share: 1}},
			Budgets: testBudget(Requests(1, 10*time.Minute).Using(FixedWindow)),
		})
		time.Sleep(time.Until(time.Now().Truncate(time.Hour).Add(time.Hour)))
		deny := func(n int, c Call, reason error) {
			for range n {
				if _, err := th.Acquire(context.Background(), c); !errors.Is(err, reason) {
					t.Fatalf("%v, want %v", err, reason)
				}
			}
		}
		for range 3 { // windows
			p, err := th.Acquire(context.Background(), testCall)
			if err != nil {
				t.Fatal(err)
			}
			p.Done()
			deny(50, testCall, ErrBudget)
			time.Sleep(10 * time.Minute)
		}
		lines := linesOf(&log)
		if len(lines) != 3 {
			t.Fatalf("%d lines, want one per window:\n%s", len(lines), log.String())
		}
		for _, want := range []string{"level=WARN", "reason=budget", "since_last=49", `limit="1 requests per 10m0s"`, "lane=now", "budget=m"} {
			if !strings.Contains(lines[1], want) {
				t.Errorf("the second line lacks %s: %s", want, lines[1])
			}
		}
		large := testCall
		large.Cost.Requests = 2
		deny(50, large, ErrTooLarge)
		if lines = linesOf(&log); len(lines) != 4 || !strings.Contains(lines[3], "reason=too_large") {
			t.Errorf("calls that are too large: %s", lines)
		}
	})
}

// The line of the pause or the refusal is the one about its denials, too.
func TestADenialForAChangeThatWasLoggedIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, v := range []Verdict{
			{Class: Busy, Scope: ScopeModel, Wait: time.Hour}, {Class: KeyRefused, Scope: ScopeKey}, {Class: ModelDenied, Scope: ScopeModel},
		} {
			var log bytes.Buffer
			th := testThrottle(t, Config{
				Logger: slog.New(slog.NewTextHandler(&log, nil)), Lanes: []lanes.Lane{{Name: "now", Share: 1}}, Budgets: testBudget(Requests(9, time.Minute)),
			})
			p, err := th.Acquire(context.Background(), testCall)
			if err != nil {
				t.Fatal(err)
			}
			p.Answered(v)
			p.Done()
			for range 10 {
				if _, err := th.Acquire(context.Background(), testCall); !errors.Is(err, ErrDenied) {
					t.Fatalf("%v: %v", v.Class, err)
				}
			}
			if n := strings.Count(log.String(), "\n"); n != 1 {
				t.Errorf("%v: %d lines, want the change's own alone:\n%s", v.Class, n, log.String())
			}
		}
	})
}
