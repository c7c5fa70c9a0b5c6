package pause

import "strings"

// A value is a bare item of a structured field (RFC 9651), as far as rate
// limit fields have them.
type value struct {
	kind valueKind
	text string
}

type valueKind uint8

const (
	absent valueKind = iota
	number
	other // a string, token, boolean or byte sequence
)

// isInteger reports whether the value is an integer that can count something.
func (v value) isInteger() bool {
	return v.kind == number && v.text != "" && allDigits(v.text)
}

func (v value) isZero() bool { return strings.Trim(v.text, "0") == "" }

// parseList reads a structured list of strings or tokens and returns the
// parameters of each. It is false where anything in the list is malformed.
func parseList(s string) (items []map[string]value, ok bool) {
	p := fieldParser{strings.TrimSpace(s)}
	for {
		if name, ok := p.bareItem(); !ok || name.kind != other {
			return nil, false
		}
		params, ok := p.parameters()
		if !ok {
			return nil, false
		}
		items = append(items, params)
		p.skipBlanks()
		if p.rest == "" {
			return items, true
		}
		if !p.skip(',') {
			return nil, false
		}
		p.skipBlanks()
	}
}

// A fieldParser consumes a structured field from its front.
type fieldParser struct{ rest string }

func (p *fieldParser) skip(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *fieldParser) skipBlanks() { p.rest = strings.TrimLeft(p.rest, " \t") }

// take cuts the longest prefix whose bytes are all accepted.
func (p *fieldParser) take(accept func(byte) bool) string {
	n := 0
	for n < len(p.rest) && accept(p.rest[n]) {
		n++
	}
	taken := p.rest[:n]
	p.rest = p.rest[n:]
	return taken
}

func (p *fieldParser) parameters() (map[string]value, bool) {
	params := map[string]value{}
	for p.skip(';') {
		p.skipBlanks()
		if p.rest == "" || !isLower(p.rest[0]) && p.rest[0] != '*' {
			return nil, false
		}
		key := p.take(isKeyByte)
		params[key] = value{kind: other} // a key alone means true
		if p.skip('=') {
			v, ok := p.bareItem()
			if !ok {
				return nil, false
			}
			params[key] = v
		}
	}
	return params, true
}

func (p *fieldParser) bareItem() (value, bool) {
	if p.rest == "" {
		return value{}, false
	}
	switch c := p.rest[0]; {
	case c == '"':
		return value{kind: other}, p.quoted()
	case c == ':': // a byte sequence
		p.skip(':')
		p.take(func(c byte) bool { return c != ':' })
		return value{kind: other}, p.skip(':')
	case c == '?': // a boolean
		p.skip('?')
		return value{kind: other}, p.skip('0') || p.skip('1')
	case c == '-' || c >= '0' && c <= '9':
		return value{kind: number, text: p.take(isNumberByte)}, true
	case c == '*' || isLower(c) || c >= 'A' && c <= 'Z':
		return value{kind: other, text: p.take(isTokenByte)}, true
	}
	return value{}, false
}

// quoted consumes a string with its quotes.
func (p *fieldParser) quoted() bool {
	for p.skip('"'); p.rest != ""; {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case c == '"':
			return true
		case c == '\\' && !p.skip('"') && !p.skip('\\'), c < ' ' || c > '~':
			return false
		}
	}
	return false
}

func isLower(c byte) bool      { return c >= 'a' && c <= 'z' }
func isNumberByte(c byte) bool { return c == '-' || c == '.' || c >= '0' && c <= '9' }
func isKeyByte(c byte) bool {
	return isLower(c) || c >= '0' && c <= '9' || strings.IndexByte("_-.*", c) >= 0
}
func isTokenByte(c byte) bool {
	return isKeyByte(c) || c >= 'A' && c <= 'Z' || strings.IndexByte("!#$%&'+^`|~:/", c) >= 0
}
