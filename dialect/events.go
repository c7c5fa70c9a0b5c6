package dialect

import "bytes"

// An eventReader takes apart a stream of server-sent events, in pieces of any
// size, and passes their data on as it comes, keeping none of it. See
// https://html.spec.whatwg.org/multipage/server-sent-events.html, 9.2.6: lines
// end with CR, LF or both, an event with an empty one; lines that begin with a
// colon are comments; there may be a byte order mark; an event's data may come
// in several lines.
type eventReader struct {
	to *reading

	state  eventState
	marked int  // bytes of the byte order mark that have been seen
	sawCR  bool // the last byte was a CR, so that an LF belongs to it
	word   [8]byte
	size   int // of word; larger than it: too long
	field  eventField
}

type eventState uint8

const (
	inName     eventState = iota // word is the field's name
	afterColon                   // where one blank may come
	inValue                      // word is the front of its value
)

type eventField uint8

const (
	otherField eventField = iota
	dataField
	nameField // "event"
)

// lastData is what the streams of OpenAI and those like it end with. Some
// clients close the body there, and don't wait for it to end.
const lastData = "[DONE]"

const byteOrderMark = "\xef\xbb\xbf"

// Write takes the next piece. It always returns len(p), nil.
func (e *eventReader) Write(p []byte) (int, error) {
	for i := 0; i < len(p); {
		if e.state == inValue && p[i] != '\r' && p[i] != '\n' {
			i += e.value(p[i:])
		} else {
			e.step(p[i])
			i++
		}
	}
	return len(p), nil
}

// value takes what belongs to the line at the front of p and returns how much
// that was.
func (e *eventReader) value(p []byte) int {
	n := lineEnd(p)
	switch e.field {
	case dataField:
		e.to.write(p[:n])
		e.addWord(p[:n])
	case nameField:
		e.addWord(p[:n])
	}
	return n
}

// lineEnd returns where the line at the front of p ends.
func lineEnd(p []byte) int {
	if n := bytes.IndexByte(p, '\n'); n >= 0 {
		p = p[:n]
	}
	if n := bytes.IndexByte(p, '\r'); n >= 0 {
		p = p[:n]
	}
	return len(p)
}

func (e *eventReader) step(c byte) {
	if e.isMark(c) {
		return
	}
	ofCRLF := e.sawCR && c == '\n'
	e.sawCR = c == '\r'
	switch {
	case ofCRLF:
	case c == '\r' || c == '\n':
		e.endLine()
	case e.state == inName && c == ':':
		e.beginValue()
	case e.state == inName:
		e.addWord([]byte{c})
	default: // afterColon
		e.state = inValue
		if c != ' ' {
			e.value([]byte{c})
		}
	}
}

// isMark reports whether a byte belongs to the mark at the stream's beginning.
func (e *eventReader) isMark(c byte) bool {
	if e.marked < len(byteOrderMark) && c == byteOrderMark[e.marked] {
		e.marked++
		return true
	}
	e.marked = len(byteOrderMark)
	return false
}

func (e *eventReader) addWord(p []byte) {
	if e.size <= len(e.word) {
		e.size += copy(e.word[min(e.size, len(e.word)):], p)
		if e.size == len(e.word) { // names that matter are shorter
			e.size++
		}
	}
}

func (e *eventReader) hasWord(word string) bool {
	return e.size == len(word) && string(e.word[:e.size]) == word
}

func (e *eventReader) beginValue() {
	switch {
	case e.hasWord("data"):
		e.field = dataField
	case e.hasWord("event"):
		e.field = nameField
	default:
		e.field = otherField
	}
	e.state, e.size = afterColon, 0
}

func (e *eventReader) endLine() {
	switch {
	case e.state == inName && e.size == 0:
		e.to.endText()
	case e.field == dataField:
		e.to.write(newline)
		e.to.finished = e.to.finished || e.hasWord(lastData)
	case e.field == nameField && e.hasWord("error"):
		e.to.facts.failed = true
	}
	e.state, e.field, e.size = inName, otherField, 0
}

var newline = []byte{'\n'}
