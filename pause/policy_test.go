package pause_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/pause"
)

func TestLengthIsTheVendorsFigureWithinThePolicy(t *testing.T) {
	tests := []struct {
		name   string
		policy pause.Policy
		vendor time.Duration
		want   time.Duration
	}{
		{"no figure, zero policy", pause.Policy{}, 0, 30 * time.Second},
		{"negative figure", pause.Policy{}, -time.Hour, 30 * time.Second},
		{"smallest figure", pause.Policy{}, 1, 1},
		{"within", pause.Policy{}, 61 * time.Second, 61 * time.Second},
		{"just Max", pause.Policy{}, 5 * time.Minute, 5 * time.Minute},
		{"a day is cut to Max", pause.Policy{}, 24 * time.Hour, 5 * time.Minute},
		{"largest figure", pause.Policy{}, math.MaxInt64, 5 * time.Minute},
		{"smallest int", pause.Policy{}, math.MinInt64, 30 * time.Second},
		{"own Max", pause.Policy{Max: time.Hour}, 24 * time.Hour, time.Hour},
		{"Max below the usual default", pause.Policy{Max: 2 * time.Second}, 0, 2 * time.Second},
		{"own Default", pause.Policy{Default: time.Second}, 0, time.Second},
		{"Default beyond the usual Max raises it", pause.Policy{Default: time.Hour}, 0, time.Hour},
		{"and bounds the vendor's figure", pause.Policy{Default: time.Hour}, 2 * time.Hour, time.Hour},
		{"no bound", pause.Policy{Max: math.MaxInt64}, math.MaxInt64, math.MaxInt64},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.policy.Length(tt.vendor); got != tt.want {
				t.Errorf("Length(%v) = %v, want %v", tt.vendor, got, tt.want)
			}
		})
	}
}

func TestValidateNamesTheField(t *testing.T) {
	tests := []struct {
		policy pause.Policy
		want   string // "" where valid
	}{
		{pause.Policy{}, ""},
		{pause.Policy{Default: time.Hour}, ""},
		{pause.Policy{Default: time.Minute, Max: time.Minute}, ""},
		{pause.Policy{Ramp: -1}, ""},
		{pause.Policy{Default: math.MaxInt64, Max: math.MaxInt64, Ramp: math.MaxInt64}, ""},
		{pause.Policy{Default: -1}, "Default is -1ns"},
		{pause.Policy{Max: -time.Second}, "Max is -1s"},
		{pause.Policy{Default: time.Minute, Max: time.Second}, "Default is 1m0s, more than Max, 1s"},
	}
	for _, tt := range tests {
		err := tt.policy.Validate()
		if tt.want == "" && err != nil {
			t.Errorf("%+v: %v, want no error", tt.policy, err)
		}
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v, want %q", tt.policy, err, tt.want)
		}
	}
}

func TestRampIsAsLongAsThePauseUnlessSaid(t *testing.T) {
	tests := []struct {
		ramp, pause, want time.Duration
	}{
		{0, 0, 0},
		{0, 3 * time.Second, 3 * time.Second},
		{0, time.Minute, pause.MaxRamp},
		{0, math.MaxInt64, pause.MaxRamp},
		{-1, time.Minute, 0},
		{time.Minute, time.Second, time.Minute},
		{1, time.Second, 1},
	}
	for _, tt := range tests {
		if got := (pause.Policy{Ramp: tt.ramp}).RampFor(tt.pause); got != tt.want {
			t.Errorf("Ramp %v: RampFor(%v) = %v, want %v", tt.ramp, tt.pause, got, tt.want)
		}
	}
}

// With 10 calls in the ramp's time at full speed, the k-th leaves after
// Ramp*sqrt(k/5): the first at once, the fifth at the end of the ramp.
