package dialect

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A textBuffer keeps the front of a key or scalar, never more than its size.
type textBuffer struct {
	bytes   []byte // its capacity is fixed
	keep    bool   // the text is of interest
	cut     bool   // there was more than fits
	escaped bool
}

func newTextBuffer(size int) textBuffer { return textBuffer{bytes: make([]byte, 0, size)} }

func (t *textBuffer) reset(keep bool) {
	*t = textBuffer{bytes: t.bytes[:0], keep: keep}
}

func (t *textBuffer) add(p []byte) {
	if !t.keep {
		return
	}
	n := min(len(p), cap(t.bytes)-len(t.bytes))
	t.bytes = append(t.bytes, p[:n]...)
	t.cut = t.cut || n < len(p)
}

func (t *textBuffer) addByte(c byte) {
	if !t.keep {
		return
	}
	if len(t.bytes) == cap(t.bytes) {
		t.cut = true
		return
	}
	t.bytes = append(t.bytes, c)
}

func (t *textBuffer) addEscape() {
	t.escaped = true
	t.addByte('\\')
}

// String returns the text as encoding/json would: what isn't UTF-8 is
// replaced.
func (t *textBuffer) String() string {
	if utf8.Valid(t.bytes) {
		return string(t.bytes)
	}
	return string([]rune(string(t.bytes)))
}

// unescape replaces the escapes of a JSON string in place, which never makes
// it longer. One that is cut off or doesn't exist is dropped.
func (t *textBuffer) unescape() {
	if !t.escaped {
		return
	}
	out, rest := t.bytes[:0], t.bytes
	for len(rest) > 0 {
		if rest[0] != '\\' {
			out, rest = append(out, rest[0]), rest[1:]
			continue
		}
		var r rune
		r, rest = cutEscape(rest)
		if r >= 0 {
			out = utf8.AppendRune(out, r)
		}
	}
	t.bytes = out
}

// cutEscape reads the escape at the front of s, with its second half where it
// is a pair of surrogates. The rune is -1 where there is none to read.
func cutEscape(s []byte) (rune, []byte) {
	if len(s) < 2 {
		return -1, nil
	}
	if s[1] != 'u' {
		return shortEscape(s[1]), s[2:]
	}
	r, ok := hexRune(s)
	if !ok {
		return -1, s[2:]
	}
	s = s[6:]
	if !utf16.IsSurrogate(r) {
		return r, s
	}
	if low, ok := hexRune(s); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, s[6:]
		}
	}
	return utf8.RuneError, s
}

func shortEscape(c byte) rune {
	switch c {
	case '"', '\\', '/':
		return rune(c)
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return -1
}

// hexRune reads \uXXXX at the front of s.
func hexRune(s []byte) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	return rune(n), err == nil
}
