package throttle

import (
	"errors"
	"fmt"
	"testing"
)

func TestEveryReasonHasItsCode(t *testing.T) {
	for reason, want := range map[error]string{
		ErrBudget: "budget", ErrPaused: "paused", ErrKeyRefused: "key_refused", ErrCreditExhausted: "credit_exhausted",
		ErrModelDenied: "model_denied", ErrTooLarge: "too_large", ErrQueueFull: "queue_full", ErrStore: "store",
		ErrClosed: "closed", errors.New("somebody else's"): "denied", nil: "denied",
		fmt.Errorf("%w: more", ErrStore): "store",
	} {
		if got := (&DeniedError{Reason: reason}).Code(); got != want {
			t.Errorf("%v: %q, want %q", reason, got, want)
		}
	}
}
