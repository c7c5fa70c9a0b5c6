package throttle

import "testing"

func TestWhatEachClassDoes(t *testing.T) {
	tests := []struct {
		class                 Class
		name                  string
		opens, refuses, pause bool
	}{
		{OK, "ok", true, false, false},
		{Busy, "busy", true, false, true},
		{Overloaded, "overloaded", false, false, true},
		{KeyRefused, "key_refused", false, true, false},
		{CreditExhausted, "credit_exhausted", false, true, false},
		{ModelDenied, "model_denied", true, false, false},
		{BadRequest, "bad_request", true, false, false},
		{ServerError, "server_error", false, false, false},
		{Class(200), "Class(200)", false, false, false},
	}
	for _, tt := range tests {
		if got := tt.class.String(); got != tt.name {
			t.Errorf("%q, want %q", got, tt.name)
		}
		if tt.class.opensKey() != tt.opens || tt.class.refusesKey() != tt.refuses || tt.class.pauses() != tt.pause {
			t.Errorf("%v: opens %v, refuses %v, pauses %v", tt.class, tt.class.opensKey(), tt.class.refusesKey(), tt.class.pauses())
		}
	}
}

func TestScopesHaveNames(t *testing.T) {
	for scope, want := range map[Scope]string{ScopeNone: "none", ScopeModel: "model", ScopeKey: "key", Scope(9): "Scope(9)"} {
		if got := scope.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
