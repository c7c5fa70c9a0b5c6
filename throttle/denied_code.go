package throttle

import "errors"

// codes are the reasons of denials, each with its word for logs, headers and
// metrics.
var codes = [...]struct {
	reason error
	code   string
}{
	{ErrBudget, "budget"},
	{ErrPaused, "paused"},
	{ErrKeyRefused, "key_refused"},
	{ErrCreditExhausted, "credit_exhausted"},
	{ErrModelDenied, "model_denied"},
	{ErrTooLarge, "too_large"},
	{ErrQueueFull, "queue_full"},
	{ErrStore, "store"},
	{ErrClosed, "closed"},
}

// Code is the reason in one word, for logs, headers and labels: "budget",
// "paused", "key_refused", "credit_exhausted", "model_denied", "too_large",
// "queue_full", "store" or "closed". An error that no throttle made, with another
// reason or none, is "denied". The words stay as they are from version to version.
func (e *DeniedError) Code() string {
	if i := e.place(); i >= 0 {
		return codes[i].code
	}
	return "denied"
}

// place is the reason's among the codes; -1: it isn't one of them.
func (e *DeniedError) place() int {
	for i := range codes {
		if errors.Is(e.Reason, codes[i].reason) {
			return i
		}
	}
	return -1
}
