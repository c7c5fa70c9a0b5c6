package dialect

import "bytes"

// A lineReader takes apart a body of JSON texts with a line each. A line that
// isn't JSON doesn't spoil the next.
type lineReader struct{ to *reading }

// Write takes the next piece. It always returns len(p), nil.
func (l lineReader) Write(p []byte) (int, error) {
	for rest := p; ; {
		line, after, ended := bytes.Cut(rest, newline)
		l.to.write(line)
		if !ended {
			return len(p), nil
		}
		l.to.endText()
		rest = after
	}
}
