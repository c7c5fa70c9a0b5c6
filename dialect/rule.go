package dialect

import (
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// A rule says what an error answer means. Everything that it names must hold.
type rule struct {
	status int      // 0: any; for an error within a 200, the one it names
	at     string   // where a code stands: a path in the body or a header's name,
	is     []string // and what it must be; see matchesAny
	says   []string // all of it is in the text for people, in any case
	within bool     // only for errors within a 200

	class  throttle.Class
	about  subject
	wait   time.Duration // where the answer names none
	undone bool          // of Overloaded: the vendor did nothing with the request
}

// A subject is what an answer is about, where that isn't what its class is
// usually about at the vendor.
type subject uint8

const (
	asUsual subject = iota
	theRequest
	theModel
	theKey
)

// matches reports whether the rule holds for an answer.
func (r *rule) matches(a *answer) bool {
	if r.status != 0 && r.status != a.status || r.within && !a.within {
		return false
	}
	if r.at != "" && !a.facts.hasCode(r.at, r.is) {
		return false
	}
	return len(r.says) == 0 || a.facts.say(r.says)
}

// plainMeaning is what a status means when nothing else is known. 403 is the
// request's own fault: vendors send it for a model, a region or a text they
// don't like far more often than for a key.
func plainMeaning(status int) throttle.Class {
	switch {
	case status < 400:
		return throttle.OK
	case status == 401:
		return throttle.KeyRefused
	case status == 402:
		return throttle.CreditExhausted
	case status == 429:
		return throttle.Busy
	case status == 503 || status == 529:
		return throttle.Overloaded
	case status >= 500:
		return throttle.ServerError
	}
	return throttle.BadRequest
}

// in puts several lists of rules together; the first ones go first.
func in(lists ...[]rule) []rule {
	var all []rule
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}
