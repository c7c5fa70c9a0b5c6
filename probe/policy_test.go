package probe_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/probe"
)

func TestWithDefaultsFillsZeroFieldsOnly(t *testing.T) {
	tests := []struct{ in, every, timeout time.Duration }{
		{0, 5 * time.Minute, 30 * time.Second},
		{time.Hour, time.Hour, 30 * time.Second},
		{30 * time.Second, 30 * time.Second, 30 * time.Second},
		{10 * time.Second, 10 * time.Second, 10 * time.Second},
	}
	for _, tt := range tests {
		got := probe.Policy{Every: tt.in}.WithDefaults()
		if got.Every != tt.every || got.Timeout != tt.timeout {
			t.Errorf("Every %v: %v, %v, want %v, %v", tt.in, got.Every, got.Timeout, tt.every, tt.timeout)
		}
	}
	own := probe.Policy{Every: time.Hour, Timeout: time.Minute}
	if got := own.WithDefaults(); got.Every != own.Every || got.Timeout != own.Timeout {
		t.Errorf("own fields became %v, %v", got.Every, got.Timeout)
	}
}

func TestWithDefaultsKeepsSend(t *testing.T) {
	called := false
	p := probe.Policy{Send: func(context.Context, string) error { called = true; return nil }}.WithDefaults()
	if p.Send == nil || p.Send(t.Context(), "") != nil || !called {
		t.Error("Send was lost")
	}
	if (probe.Policy{}).WithDefaults().Send != nil {
		t.Error("a Send came from nowhere")
	}
}

func TestValidateNamesTheFieldOutOfRange(t *testing.T) {
	tests := []struct {
		name string
		p    probe.Policy
		want string // the field; "": valid
	}{
		{"zero", probe.Policy{}, ""},
		{"negative every", probe.Policy{Every: -1}, "Every"},
		{"negative timeout", probe.Policy{Timeout: -1}, "Timeout"},
		{"timeout above every", probe.Policy{Every: time.Minute, Timeout: time.Minute + 1}, "Timeout"},
		{"timeout above the default every", probe.Policy{Timeout: 5*time.Minute + 1}, "Timeout"},
		{"timeout within the default every", probe.Policy{Timeout: time.Minute}, ""},
		{"timeout as long as every", probe.Policy{Every: time.Minute, Timeout: time.Minute}, ""},
		{"every below the default timeout", probe.Policy{Every: time.Second}, ""},
		{"as rarely as can be", probe.Policy{Every: math.MaxInt64}, ""},
	}
	for _, tt := range tests {
		err := tt.p.Validate()
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v, want no error", tt.name, err)
		case tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want+" ")):
			t.Errorf("%s: %v, want an error about %s", tt.name, err, tt.want)
		}
	}
}
