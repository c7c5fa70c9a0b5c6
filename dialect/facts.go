package dialect

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// facts are what a vendor's rules ask for of an error: codes and figures from
// its body and header, and texts for people. They lie in one buffer, so that
// those of one event of a stream after another cost no allocation.
type facts struct {
	vendor   *vendor
	text     []byte
	all      string // text, once it was asked for
	codes    []fact // figures too
	messages []fact // in lower case, as far as ASCII goes
	failed   bool   // the text says that it is an error
	suspect  bool   // it is one if it has a code or a message
}

// A fact is a piece of the text, and where it stood: a path of the body or the
// name of a header.
type fact struct {
	at       string
	from, to int
}

// Bounds of what is kept of an error.
const (
	maxFacts   = 32
	maxMessage = 4096 // bytes of one text
)

// factsOf reads an error's header and body. The body may be an array of errors
// and may be cut off; of one that is neither JSON nor, where the vendor has
// that, XML, nothing is known.
func factsOf(v *vendor, h http.Header, body []byte) *facts {
	f := &facts{vendor: v}
	f.readHeader(h)
	newScanner(maxMessage, f.visit).Write(body)
	if v.xml {
		f.readXML(body)
	}
	return f
}

// reset forgets everything but the buffer.
func (f *facts) reset() {
	f.text, f.all = f.text[:0], ""
	f.codes, f.messages = f.codes[:0], f.messages[:0]
	f.failed, f.suspect = false, false
}

// isError reports whether what has been read of a 2xx is an error.
func (f *facts) isError() bool {
	return f.failed || f.suspect && len(f.codes)+len(f.messages) > 0
}

func (f *facts) readHeader(h http.Header) {
	for _, names := range [...][]string{f.vendor.codeHeaders, f.vendor.figureHeaders} {
		for _, name := range names {
			if value := h.Get(name); value != "" {
				f.addCode(name, []byte(errorName(value)))
			}
		}
	}
}

// errorName returns the name in an error's type as AWS writes it:
// "com.amazon.coral#ThrottlingException:http://…" yields ThrottlingException.
func errorName(s string) string {
	s, _, _ = strings.Cut(s, ":")
	if i := strings.LastIndexByte(s, '#'); i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimSpace(s)
}

// visit takes a value of the body.
func (f *facts) visit(at *path, kind valueKind, text *textBuffer) {
	v := f.vendor
	for i := range v.signs {
		is, maybe := v.signs[i].isAt(at, kind, text)
		f.failed, f.suspect = f.failed || is, f.suspect || maybe
	}
	if kind != jsonString && kind != jsonNumber {
		return
	}
	for _, places := range [...][]string{v.codes, v.figures} {
		for _, place := range places {
			switch {
			case !at.isInAny(place):
			case place == awsBodyType:
				f.addCode(place, []byte(errorName(text.String())))
			default:
				f.addCode(place, text.bytes)
			}
		}
	}
	for _, place := range v.messages {
		if at.isInAny(place) {
			f.addMessage(place, text.bytes)
		}
	}
}

func (f *facts) addCode(at string, text []byte) {
	if len(f.codes) < maxFacts {
		f.codes = append(f.codes, f.keep(at, text))
	}
}

func (f *facts) addMessage(at string, text []byte) {
	if len(f.messages) == maxFacts {
		return
	}
	kept := f.keep(at, text)
	for i, c := range f.text[kept.from:kept.to] {
		if c >= 'A' && c <= 'Z' {
			f.text[kept.from+i] = c | 0x20
		}
	}
	f.messages = append(f.messages, kept)
}

func (f *facts) keep(at string, text []byte) fact {
	from := len(f.text)
	f.text = append(f.text, text[:min(len(text), maxMessage)]...)
	return fact{at, from, len(f.text)}
}

// textOf returns a fact as a string. All of them are made at once, since rules
// ask for them many times.
func (f *facts) textOf(c fact) string {
	if len(f.all) != len(f.text) {
		f.all = string(f.text)
	}
	return f.all[c.from:c.to]
}

// code returns the first code or figure at a place, "" where there is none.
func (f *facts) code(at string) string {
	for _, c := range f.codes {
		if isPlace(c.at, at) {
			return f.textOf(c)
		}
	}
	return ""
}

// figure returns the first figure at a place, if it is a number.
func (f *facts) figure(at string) (float64, bool) {
	n, err := strconv.ParseFloat(f.code(at), 64)
	return n, err == nil
}

func (f *facts) hasCode(at string, any []string) bool {
	return slices.ContainsFunc(f.codes, func(c fact) bool {
		return isPlace(c.at, at) && matchesAny(f.textOf(c), any)
	})
}

// isPlace reports whether a rule that looks at want means what stands at: the
// same error may come deeper, as "response.error.code" for "error.code" in an
// event of a stream.
func isPlace(at, want string) bool {
	above, isBelow := strings.CutSuffix(at, want)
	return isBelow && (above == "" || strings.HasSuffix(above, "."))
}

// matchesAny reports whether a code is one of those listed, of which
// "*_BLOCKED" is an ending, "ACCESS_TOKEN_*" a beginning and "200-299" a range
// of numbers.
func matchesAny(code string, any []string) bool {
	return slices.ContainsFunc(any, func(want string) bool {
		if ending, ok := strings.CutPrefix(want, "*"); ok {
			return strings.HasSuffix(code, ending)
		}
		if beginning, ok := strings.CutSuffix(want, "*"); ok {
			return strings.HasPrefix(code, beginning)
		}
		return code == want || isBetween(code, want)
	})
}

// isBetween reports whether a code is a number within the bounds "200-299".
func isBetween(code, bounds string) bool {
	low, high, isRange := strings.Cut(bounds, "-")
	if !isRange || !isNumber(low) || !isNumber(high) || !isNumber(code) {
		return false
	}
	n := number(code)
	return number(low) <= n && n <= number(high)
}

// isNumber reports whether a code is a number, and short enough to be one.
func isNumber(code string) bool {
	return code != "" && len(code) < 10 && strings.Trim(code, "0123456789") == ""
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// say reports whether one of the texts has all the phrases.
func (f *facts) say(phrases []string) bool {
	return slices.ContainsFunc(f.messages, func(message fact) bool {
		text := f.textOf(message)
		for _, phrase := range phrases {
			if !strings.Contains(text, phrase) {
				return false
			}
		}
		return true
	})
}

// status returns the HTTP status that an error within an answer of 200 names
// as its code, 0 where it names none.
func (f *facts) status() int {
	for _, c := range f.codes {
		if code := f.textOf(c); isBetween(code, "400-599") && slices.Contains(f.vendor.codes, c.at) {
			return number(code)
		}
	}
	return 0
}
