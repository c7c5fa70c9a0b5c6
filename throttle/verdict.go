package throttle

import (
	"strconv"
	"time"
)

// A Verdict is what a vendor's answer means.
type Verdict struct {
	Class Class
	// Scope is what the answer is about: this model, the whole key, or neither.
	Scope Scope
	// Wait is the vendor's own figure, 0 where it names none. The throttle
	// clamps it.
	Wait time.Duration
	// Detail is a short reason for people, such as the vendor's error code. It
	// must not contain a credential.
	Detail string
}

// A Class sorts answers by what the throttle does about them.
type Class uint8

const (
	OK              Class = iota // nothing; opens a key that was being probed
	Busy                         // pause of the verdict's scope
	Overloaded                   // pause of the verdict's scope
	KeyRefused                   // the key is refused until a probe opens it
	CreditExhausted              // likewise, with its own reason
	ModelDenied                  // that model alone is refused for probe.Policy.Every
	BadRequest                   // nothing; opens a key that was being probed
	ServerError                  // nothing
)

var classNames = [...]string{"ok", "busy", "overloaded", "key_refused", "credit_exhausted", "model_denied", "bad_request", "server_error"}

// String returns the class in lower case with underscores, "key_refused".
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "Class(" + strconv.Itoa(int(c)) + ")"
}

// A Scope is what a verdict is about.
type Scope uint8

const (
	ScopeNone  Scope = iota // the request alone
	ScopeModel              // the budget of the model
	ScopeKey                // the account of the key
)

var scopeNames = [...]string{"none", "model", "key"}

// String returns "none", "model" or "key".
func (s Scope) String() string {
	if int(s) < len(scopeNames) {
		return scopeNames[s]
	}
	return "Scope(" + strconv.Itoa(int(s)) + ")"
}

// opensKey reports whether a probe that was answered so shows that the vendor
// accepts the key. An answer about the request, the model or the pace is one
// to an accepted key; a server's own trouble says nothing about it.
func (c Class) opensKey() bool {
	return c == OK || c == Busy || c == BadRequest || c == ModelDenied
}

// refusesKey reports whether the answer closes the key.
func (c Class) refusesKey() bool { return c == KeyRefused || c == CreditExhausted }

// pauses reports whether the answer pauses its scope.
func (c Class) pauses() bool { return c == Busy || c == Overloaded }
