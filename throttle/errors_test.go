package throttle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

var reasons = []error{
	ErrBudget, ErrPaused, ErrKeyRefused, ErrCreditExhausted, ErrModelDenied,
	ErrTooLarge, ErrQueueFull, ErrStore, ErrClosed,
}

func TestADenialIsItsReasonAndErrDeniedAndNothingElse(t *testing.T) {
	for _, reason := range reasons {
		err := fmt.Errorf("wrapped: %w", &DeniedError{Reason: reason})
		if !errors.Is(err, reason) || !errors.Is(err, ErrDenied) {
			t.Errorf("%v doesn't match its reason and ErrDenied", err)
		}
		for _, other := range reasons {
			if other != reason && errors.Is(err, other) {
				t.Errorf("%v matches %v", err, other)
			}
		}
		for _, other := range []error{context.DeadlineExceeded, context.Canceled, ErrInvalidCall, ErrNotBuilt} {
			if errors.Is(err, other) {
				t.Errorf("%v matches %v", err, other)
			}
		}
		var denied *DeniedError
		if !errors.As(err, &denied) || denied.Reason != reason {
			t.Errorf("%v isn't a *DeniedError", err)
		}
	}
}

func TestADenialMatchesItsCause(t *testing.T) {
	late := &DeniedError{Reason: ErrBudget, cause: context.DeadlineExceeded}
	gone := &DeniedError{Reason: ErrPaused, cause: context.Canceled}
	away := &DeniedError{Reason: ErrStore, cause: io.ErrUnexpectedEOF}
	for _, tt := range []struct {
		err   *DeniedError
		cause error
	}{{late, context.DeadlineExceeded}, {gone, context.Canceled}, {away, io.ErrUnexpectedEOF}} {
		if !errors.Is(tt.err, tt.cause) || !errors.Is(tt.err, tt.err.Reason) || !errors.Is(tt.err, ErrDenied) {
			t.Errorf("%v doesn't match %v, its reason and ErrDenied", tt.err, tt.cause)
		}
		if !strings.HasSuffix(tt.err.Error(), tt.cause.Error()) {
			t.Errorf("%q doesn't tell its cause", tt.err)
		}
	}
	if !late.Timeout() || gone.Timeout() || away.Timeout() {
		t.Error("Timeout is that of the caller's deadline alone")
	}
}

func TestTheTextNamesWhatPeopleNeed(t *testing.T) {
	err := &DeniedError{
		Reason: ErrBudget, Key: "fingerprint", Model: "gpt-4o", Budget: "team", Lane: "background",
		Limit: "600 requests per 1m0s", Verdict: Verdict{Class: Busy, Detail: "rate_limit_exceeded"},
		RetryAfter: 1234567 * time.Microsecond,
	}
	for _, want := range []string{
		ErrBudget.Error(), `model "gpt-4o"`, `budget "team"`, `lane "background"`, "limit 600 requests per 1m0s",
		"busy", "rate_limit_exceeded", "1.235s",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q doesn't say %q", err, want)
		}
	}
	short := (&DeniedError{Reason: ErrClosed, Model: "m", Budget: "m"}).Error()
	if want := ErrClosed.Error() + `: model "m"`; short != want {
		t.Errorf("%q, want %q", short, want)
	}
}

func TestSDKsAreToldNotToRetry(t *testing.T) {
	var err error = &DeniedError{Reason: ErrBudget}
	if aws, ok := err.(interface{ RetryableError() bool }); !ok || aws.RetryableError() {
		t.Error("an AWS SDK would send it again")
	}
	if _, ok := err.(interface{ NonRetriable() }); !ok {
		t.Error("an Azure SDK would send it again")
	}
	if _, ok := err.(net.Error); !ok {
		t.Error("it isn't a net.Error")
	}
}

func TestComingBackHelpsUnlessTooLargeOrClosed(t *testing.T) {
	for _, reason := range reasons {
		want := reason != ErrTooLarge && reason != ErrClosed
		if got := (&DeniedError{Reason: reason}).Temporary(); got != want {
			t.Errorf("%v: Temporary is %v", reason, got)
		}
	}
}

func TestFingerprintsAreOneWayAndAlwaysTheSame(t *testing.T) {
	const credential = "sk-live-0123456789abcdef"
	f := FingerprintOf(credential)
	if len(f) != 32 || strings.Trim(string(f), "0123456789abcdef") != "" {
		t.Errorf("%q isn't 32 hex digits", f)
	}
	// A literal: another value would part the processes of a fleet.
	if want := Fingerprint("87127d990b6114de98e3fa8c37d8b836"); f != want {
		t.Errorf("%q, want %q", f, want)
	}
	if FingerprintOf(credential+"0") == f || FingerprintOf("") == "" || FingerprintOf("") == f {
		t.Error("different credentials meet")
	}
}

// Whatever is denied, its text has nothing of the credential.
func TestNoDenialTellsTheCredential(t *testing.T) {
	const credential = "sk-live-0123456789abcdef"
	th, err := New(Config{
		Budgets: []Budget{{Models: []string{"m"}, Limits: []Limit{Requests(1, time.Hour)}}},
		Lanes:   []lanes.Lane{{Name: "live", Share: 1}},
		Logger:  slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer th.Close()
	call := Call{Key: FingerprintOf(credential), Model: "m"}
	p, err := th.Acquire(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{fmt.Sprint(th.Check(t.Context(), call))}
	p.Answered(Verdict{Class: KeyRefused, Scope: ScopeKey, Detail: "invalid_api_key"})
	p.Done()
	_, err = th.Acquire(t.Context(), call)
	texts = append(texts, fmt.Sprint(err), fmt.Sprintf("%#v", err))
	for _, text := range texts {
		if !strings.Contains(text, "headgate: ") && !strings.Contains(text, "DeniedError") {
			t.Errorf("%q isn't a denial", text)
		}
		if strings.Contains(text, credential) || strings.Contains(text, credential[8:]) {
			t.Errorf("%q tells the credential", text)
		}
	}
}
