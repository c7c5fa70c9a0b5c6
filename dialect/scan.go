package dialect

// maxDepth is how deep a JSON text may nest before a scanner gives up on it.
const maxDepth = 512

// A scanner reads JSON as it streams past, in pieces of any size, and reports
// the values at the paths it passes. It keeps no more of the text than one key
// and one scalar, of bounded size, and allocates nothing per byte. What it
// reports for a text doesn't depend on how the text was cut up.
//
// It is lenient where that can't mislead: strings may hold control characters
// and numbers needn't be well formed. A text that breaks JSON's structure is
// reported up to there. Several texts one after another are read one by one.
type scanner struct {
	visit   visitor
	ended   func()      // called at the end of a text, and of each item of one that is an array; may be nil
	measure *proseMeter // measures strings; nil: doesn't

	texts  int // how many came to their end
	state  scanState
	isKey  bool // the string being read is a key
	depth  int
	arrays [maxDepth / 8]byte // a bit for each open bracket: it is an array's
	path   path
	text   textBuffer
}

// A visitor is told each value whose path is at most maxPath long, also the
// objects and arrays, when they begin. Path and text are only lent.
type visitor func(at *path, kind valueKind, text *textBuffer)

type valueKind uint8

const (
	jsonString valueKind = iota
	jsonNumber
	jsonLiteral // true, false or null
	jsonObject
	jsonArray
)

type scanState uint8

const (
	beforeValue scanState = iota
	beforeFirstItem
	beforeFirstKey
	beforeKey
	afterKey
	afterValue
	inString
	inEscape
	inNumber
	inLiteral
	broken
)

// newScanner returns a scanner that keeps up to keep bytes of a scalar.
func newScanner(keep int, visit visitor) *scanner {
	return &scanner{visit: visit, text: newTextBuffer(max(keep, maxRawKey))}
}

// Write scans p. It always returns len(p), nil.
func (s *scanner) Write(p []byte) (int, error) {
	for i := 0; i < len(p) && s.state != broken; {
		if s.state == inString {
			i += s.stringBytes(p[i:])
		} else {
			s.step(p[i])
			i++
		}
	}
	return len(p), nil
}

// stringBytes takes what belongs to the string at the front of p, up to the
// quote or backslash that ends the plain part, and returns how much that was.
func (s *scanner) stringBytes(p []byte) int {
	n := 0
	for n < len(p) && p[n] != '"' && p[n] != '\\' {
		n++
	}
	s.text.add(p[:n])
	s.measure.add(p[:n])
	if n == len(p) {
		return n
	}
	if p[n] == '\\' {
		s.text.addEscape()
		s.state = inEscape
	} else {
		s.endString()
	}
	return n + 1
}

func (s *scanner) endString() {
	s.measure.endString()
	s.text.unescape()
	if s.isKey {
		s.path.setKey(s.depth, &s.text)
		s.state = afterKey
		return
	}
	s.endScalar(jsonString)
}

// step takes one byte outside the plain part of a string.
func (s *scanner) step(c byte) {
	switch {
	case s.state == inEscape:
		s.text.addByte(c)
		s.measure.escape(c)
		s.state = inString
	case s.state == inNumber && isNumberByte(c), s.state == inLiteral && isLower(c):
		s.text.addByte(c)
	case s.state == inNumber:
		s.endScalar(jsonNumber)
		s.step(c)
	case s.state == inLiteral:
		s.endLiteral()
		s.step(c)
	case isSpace(c):
	default:
		s.structure(c)
	}
}

// structure takes a byte between values.
func (s *scanner) structure(c byte) {
	switch {
	case s.state == beforeValue:
		s.beginValue(c)
	case s.state == beforeFirstItem && c == ']', s.state == beforeFirstKey && c == '}':
		s.close(c)
	case s.state == beforeFirstItem:
		s.beginValue(c)
	case (s.state == beforeFirstKey || s.state == beforeKey) && c == '"':
		s.beginString(true)
	case s.state == afterKey && c == ':':
		s.state = beforeValue
	case s.state == afterValue && c == ',' && s.inArray():
		s.state = beforeValue
	case s.state == afterValue && c == ',':
		s.state = beforeKey
	case s.state == afterValue:
		s.close(c)
	default:
		s.state = broken
	}
}

func (s *scanner) beginValue(c byte) {
	switch {
	case c == '{':
		s.open(jsonObject, beforeFirstKey)
	case c == '[':
		s.open(jsonArray, beforeFirstItem)
	case c == '"':
		s.beginString(false)
	case c == '-' || c >= '0' && c <= '9':
		s.beginScalar(c, inNumber)
	case c == 't' || c == 'f' || c == 'n':
		s.beginScalar(c, inLiteral)
	default:
		s.state = broken
	}
}

func (s *scanner) beginString(isKey bool) {
	s.isKey = isKey
	s.text.reset(s.depth <= maxPath)
	s.state = inString
}

func (s *scanner) beginScalar(c byte, state scanState) {
	s.text.reset(s.depth <= maxPath)
	s.text.addByte(c)
	s.state = state
}

func (s *scanner) endLiteral() {
	switch string(s.text.bytes) {
	case "true", "false", "null", "": // not kept that deep
		s.endScalar(jsonLiteral)
	default:
		s.state = broken
	}
}

func (s *scanner) endScalar(kind valueKind) {
	s.report(kind)
	s.endValue()
}

// report passes a value on, if its path is short enough to be known.
func (s *scanner) report(kind valueKind) {
	if s.depth <= maxPath {
		s.path.depth = s.depth
		s.visit(&s.path, kind, &s.text)
	}
}

func (s *scanner) endValue() {
	s.state = afterValue
	if s.depth == 0 {
		s.state = beforeValue
		s.texts++
	}
	if s.ended != nil && (s.depth == 0 || s.depth == 1 && s.inArray()) {
		s.ended()
	}
}

// between reports whether a text has come to its end and no other has begun.
func (s *scanner) between() bool { return s.texts > 0 && s.state == beforeValue && s.depth == 0 }

// reset begins a new text.
func (s *scanner) reset() {
	s.state, s.depth, s.isKey = beforeValue, 0, false
	s.text.reset(false)
}

func (s *scanner) open(kind valueKind, next scanState) {
	if s.depth == maxDepth {
		s.state = broken
		return
	}
	s.text.reset(false)
	s.report(kind)
	bit := byte(1) << (s.depth % 8)
	s.arrays[s.depth/8] &^= bit
	if kind == jsonArray {
		s.arrays[s.depth/8] |= bit
	}
	s.depth++
	s.path.enter(s.depth, kind)
	s.state = next
}

// close takes a bracket that must match the innermost open one.
func (s *scanner) close(c byte) {
	if c == ']' != s.inArray() || c != ']' && c != '}' {
		s.state = broken
		return
	}
	s.depth--
	s.endValue()
}

func (s *scanner) inArray() bool {
	d := s.depth - 1
	return s.arrays[d/8]>>(d%8)&1 == 1
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isNumberByte(c byte) bool {
	return isDigit(c) || c == '-' || c == '+' || c == '.' || c|0x20 == 'e'
}
