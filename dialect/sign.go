package dialect

// A sign is what shows that an answer of 200, or an event of one, is an error
// after all. At most one of is and not is set; without either, a text at the
// place is the sign, or an object that has a code or a text for people in it:
// some answers that are fine have an empty one.
type sign struct {
	at  string
	is  string // the only value that is one
	not string // the only value that isn't
}

// isAt reports whether a value is the sign, or may be, if a code or a text
// follows.
func (s *sign) isAt(at *path, kind valueKind, text *textBuffer) (is, maybe bool) {
	switch {
	case !at.isInAny(s.at):
		return false, false
	case s.is != "":
		return string(text.bytes) == s.is, false
	case s.not != "":
		return kind <= jsonLiteral && string(text.bytes) != s.not, false
	}
	return kind == jsonString && len(text.bytes) > 0, kind == jsonObject
}

// anError is the sign of most vendors.
var anError = sign{at: "error"}
