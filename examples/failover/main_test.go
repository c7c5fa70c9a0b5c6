package main

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// The program does what it says, in this order.
func TestRun(t *testing.T) {
	var out strings.Builder
	wrong, err := run(t.Context(), &out)
	if err != nil || wrong != 0 {
		t.Fatalf("%d figures are wrong, %v:\n%s", wrong, err, &out)
	}
	got := regexp.MustCompile(`(?:answered by [a-z0-9-]+|denied: "[a-z0-9-]+"|answered \d, refused \d)`).FindAllString(out.String(), -1)
	want := []string{
		"answered by gpt-4o", "answered by gpt-4o", "answered by gpt-4o-mini", "answered by gpt-4o-mini",
		"answered by claude-haiku-4-5", "answered by claude-haiku-4-5", `denied: "gpt-4o"`,
		"answered 2, refused 0", "answered 2, refused 0", "answered 2, refused 0",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q:\n%s", got, &out)
	}
}

func TestAWrongFigureIsCounted(t *testing.T) {
	wrong := 0
	if mark(true, &wrong) != "  ok" || mark(false, &wrong) != "  WRONG" || wrong != 1 {
		t.Errorf("%d wrong", wrong)
	}
}

// A call that nobody should answer goes to nobody else.
func TestWhatAnotherVendorIsAskedFor(t *testing.T) {
	for reason, want := range map[error]bool{
		throttle.ErrBudget: true, throttle.ErrPaused: true, throttle.ErrKeyRefused: true, throttle.ErrCreditExhausted: true,
		throttle.ErrTooLarge: false, throttle.ErrStore: false, throttle.ErrClosed: false, errors.New("broken off"): false,
	} {
		if got := isElsewhere(&throttle.DeniedError{Reason: reason}); got != want {
			t.Errorf("%v: %v, want %v", reason, got, want)
		}
	}
	if isElsewhere(nil) {
		t.Error("an answer is no reason")
	}
}

// A vendor's own refusal comes back as it is, and pauses the model: the next
// question goes to the backup.
func TestAVendorThatRefuses(t *testing.T) {
	v := startVendor()
	defer v.Close()
	v.called[model] = rpm
	th, err := throttle.New(throttle.Config{Budgets: []throttle.Budget{{
		Models: []string{model, backup, other}, PerModel: true,
		Limits: []throttle.Limit{throttle.Requests(10, time.Minute)},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer th.Close()
	d := newDesk(th, v.URL, v.URL)
	if _, err := d.ask(context.Background(), "?"); err == nil || !strings.Contains(err.Error(), "429") {
		t.Errorf("got %v, want the vendor's 429", err)
	}
	if got, err := d.ask(context.Background(), "?"); err != nil || got != backup {
		t.Errorf("got %q, %v, want %s", got, err, backup)
	}
}
