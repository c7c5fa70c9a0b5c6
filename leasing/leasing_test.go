package leasing_test

import (
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/leasing"
)

func TestOnlyTheZeroPolicyIsOff(t *testing.T) {
	if !(leasing.Policy{}).Off() {
		t.Error("the zero policy is on")
	}
	for name, p := range map[string]leasing.Policy{
		"auto":          leasing.Auto(),
		"chunk":         {Chunk: 1},
		"chunk and age": {Chunk: 10, MaxAge: time.Second},
		"age alone":     {MaxAge: time.Second},
	} {
		if p.Off() {
			t.Errorf("%s is off", name)
		}
	}
}

func TestValidateNamesTheFieldOutOfRange(t *testing.T) {
	aged := leasing.Auto()
	aged.MaxAge = time.Second
	tests := []struct {
		name string
		p    leasing.Policy
		want string // the field; "": valid
	}{
		{"zero", leasing.Policy{}, ""},
		{"auto", leasing.Auto(), ""},
		{"auto with an age", aged, ""},
		{"chunk", leasing.Policy{Chunk: 1}, ""},
		{"chunk and age", leasing.Policy{Chunk: 100, MaxAge: time.Second}, ""},
		{"negative chunk", leasing.Policy{Chunk: -1}, "Chunk"},
		{"negative age", leasing.Policy{Chunk: 1, MaxAge: -1}, "MaxAge"},
		{"age without a chunk", leasing.Policy{MaxAge: time.Second}, "MaxAge"},
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
