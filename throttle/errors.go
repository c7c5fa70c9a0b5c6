package throttle

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Reasons of a DeniedError, for errors.Is.
var (
	// ErrDenied matches every DeniedError.
	ErrDenied = errors.New("headgate: denied")

	ErrBudget          = errors.New("headgate: no room in the budget")
	ErrPaused          = errors.New("headgate: paused")
	ErrKeyRefused      = errors.New("headgate: the vendor refuses the key")
	ErrCreditExhausted = errors.New("headgate: the account's credit is exhausted")
	ErrModelDenied     = errors.New("headgate: the vendor denies the model to this key")
	ErrTooLarge        = errors.New("headgate: the call is larger than its lane's ceiling")
	ErrQueueFull       = errors.New("headgate: too many calls are waiting")
	ErrStore           = errors.New("headgate: the store is out of reach")
	ErrClosed          = errors.New("headgate: the throttle is closed")
)

// ErrInvalidCall matches errors of Acquire about the call itself: a negative
// cost, an unknown lane. Nothing was decided or charged, and the same call
// will never do better.
var ErrInvalidCall = errors.New("headgate: invalid call")

// ErrNotBuilt matches errors about parts of the contract that this version
// doesn't have yet. At present there are none.
var ErrNotBuilt = errors.New("not built yet")

// A DeniedError is a call that wasn't let through. Nothing was sent, and
// nothing is charged for it.
//
// errors.Is matches Reason and ErrDenied. It also matches
// context.DeadlineExceeded where the caller's deadline is too near for the
// wait that the call would need, and the context's own error where the context
// ended while the call waited.
type DeniedError struct {
	// Reason is one of ErrBudget, ErrPaused, ErrKeyRefused,
	// ErrCreditExhausted, ErrModelDenied, ErrTooLarge, ErrQueueFull, ErrStore
	// and ErrClosed.
	Reason error
	Key    Fingerprint
	Model  string
	Budget string
	Lane   string
	// Limit names the limit behind ErrBudget and ErrTooLarge.
	Limit string
	// Verdict is the vendor's answer behind the denial, if there is one.
	Verdict Verdict
	// RetryAfter is when to come back. Never negative; 0: unknown, or nothing
	// helps, as with ErrTooLarge and ErrClosed.
	RetryAfter time.Duration

	cause    error // the context's error, or the store's
	timeless bool  // nobody knows when there is room: calls in flight have to end
}

// Error names the reason, the model, the lane, the limit and the wait.
func (e *DeniedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: model %q", e.Reason, e.Model)
	if e.Budget != "" && e.Budget != e.Model {
		fmt.Fprintf(&b, ", budget %q", e.Budget)
	}
	if e.Lane != "" {
		fmt.Fprintf(&b, ", lane %q", e.Lane)
	}
	if e.Limit != "" {
		fmt.Fprintf(&b, ", limit %s", e.Limit)
	}
	if e.Verdict.Class != OK {
		fmt.Fprintf(&b, ", vendor said %v", e.Verdict.Class)
		if e.Verdict.Detail != "" {
			fmt.Fprintf(&b, " (%s)", e.Verdict.Detail)
		}
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, ", come back in %v", e.RetryAfter.Round(time.Millisecond))
	}
	if e.cause != nil {
		fmt.Fprintf(&b, ": %v", e.cause)
	}
	return b.String()
}

// Is reports whether target is ErrDenied.
func (e *DeniedError) Is(target error) bool { return target == ErrDenied }

// Unwrap returns the reason and, where there is one, the context's error.
func (e *DeniedError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.cause}
}

// RetryableError reports false: an AWS SDK must not send the request again by
// itself, since every attempt would be denied alike.
func (e *DeniedError) RetryableError() bool { return false }

// NonRetriable tells Azure's SDK the same.
func (e *DeniedError) NonRetriable() {}

// Timeout reports whether the caller's deadline is behind the denial, as
// net.Error has it.
func (e *DeniedError) Timeout() bool { return errors.Is(e.cause, context.DeadlineExceeded) }

// Temporary reports whether coming back later can help.
func (e *DeniedError) Temporary() bool {
	return e.Reason != ErrTooLarge && e.Reason != ErrClosed
}
