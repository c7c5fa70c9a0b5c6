package dialect

import (
	"slices"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// A rule says what an error answer means. Everything that it names must hold.
type rule struct {
	status int      // 0: any
	at     string   // where in the body a code stands,
	is     []string // and what it must be; "*_BLOCKED" is an ending
	says   []string // all of it is in the text for people, in any case
	class  throttle.Class
}

// matches reports whether the rule holds for an answer.
func (r *rule) matches(status int, facts *facts) bool {
	if r.status != 0 && r.status != status {
		return false
	}
	if r.at != "" && !facts.hasCode(r.at, r.is) {
		return false
	}
	return len(r.says) == 0 || facts.say(r.says)
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

// facts are what of an error body its vendor's rules ask for.
type facts struct {
	codes    []fact
	messages []string // in lower case
}

type fact struct{ at, text string }

// Bounds of what is kept of an error body.
const (
	maxFacts   = 32
	maxMessage = 4096 // bytes of one text
)

// factsOf reads an error body, which may be an array of errors and may be cut
// off. It is empty for a body that isn't JSON.
func factsOf(v *vendor, body []byte) *facts {
	f := &facts{}
	scan := newScanner(maxMessage, func(at *path, kind valueKind, text *textBuffer) {
		if kind == jsonString || kind == jsonNumber {
			f.collect(v, at, text)
		}
	})
	scan.Write(body)
	return f
}

func (f *facts) collect(v *vendor, at *path, text *textBuffer) {
	for _, code := range v.codes {
		if len(f.codes) < maxFacts && at.isInAny(code) {
			f.codes = append(f.codes, fact{code, text.String()})
		}
	}
	for _, message := range v.messages {
		if len(f.messages) < maxFacts && at.isInAny(message) {
			f.messages = append(f.messages, strings.ToLower(text.String()))
		}
	}
}

func (f *facts) hasCode(at string, any []string) bool {
	return slices.ContainsFunc(f.codes, func(c fact) bool {
		return c.at == at && slices.ContainsFunc(any, func(want string) bool {
			ending, isEnding := strings.CutPrefix(want, "*")
			return c.text == want || isEnding && strings.HasSuffix(c.text, ending)
		})
	})
}

// say reports whether one of the texts has all the phrases.
func (f *facts) say(phrases []string) bool {
	return slices.ContainsFunc(f.messages, func(message string) bool {
		for _, phrase := range phrases {
			if !strings.Contains(message, phrase) {
				return false
			}
		}
		return true
	})
}
