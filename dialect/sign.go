package dialect

// A sign is what shows that an answer of 200, or an event of one, is an error
// after all. At most one of is and not is set; without either, an object or a
// text at the place is the sign.
type sign struct {
	at  string
	is  string // the only value that is one
	not string // the only value that isn't
}

func (s *sign) isAt(at *path, kind valueKind, text *textBuffer) bool {
	switch {
	case !at.isInAny(s.at):
		return false
	case s.is != "":
		return string(text.bytes) == s.is
	case s.not != "":
		return kind <= jsonLiteral && string(text.bytes) != s.not
	}
	return kind == jsonObject || kind == jsonString && len(text.bytes) > 0
}

// anError is the sign of most vendors.
var anError = sign{at: "error"}
