package faultproxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// errNotRESP says that bytes are no RESP, or more than Redis would accept.
var errNotRESP = errors.New("faultproxy: not RESP")

const (
	maxBulk  = 512 << 20 // as in Redis
	maxItems = 1 << 24   // of one value, nested ones included
	maxLine  = 64 << 10  // as in Redis; the size of the reader's buffer
)

// readValue reads one RESP value with all that is nested in it. When it fails
// it returns what it has taken from the reader, nothing else is lost.
func readValue(r *bufio.Reader) ([]byte, error) {
	var raw bytes.Buffer
	// Values stand one after the other, however they are nested, so it is
	// enough to know how many are still to come.
	for left := 1; left > 0; {
		nested, err := readItem(r, &raw)
		if err != nil {
			return raw.Bytes(), err
		}
		if left += nested - 1; left > maxItems {
			return raw.Bytes(), errNotRESP
		}
	}
	return raw.Bytes(), nil
}

// readItem reads a line and, if it announces one, the string behind it. It
// returns how many values follow that belong to this one.
func readItem(r *bufio.Reader, raw *bytes.Buffer) (nested int, err error) {
	// Before the line is there: what isn't RESP might never end a line.
	kind, err := r.Peek(1)
	if err != nil {
		return 0, err
	}
	if !bytes.ContainsAny(kind, "+-:_#,($!=*~>%|") {
		return 0, errNotRESP
	}
	line, err := readLine(r, raw)
	if err != nil {
		return 0, err
	}
	switch line[0] {
	case '$', '!', '=':
		n, err := length(line, maxBulk)
		if err != nil || n < 0 {
			return 0, err
		}
		return 0, readString(r, raw, n)
	case '*', '~', '>':
		n, err := length(line, maxItems)
		return max(n, 0), err
	case '%':
		n, err := length(line, maxItems)
		return 2 * max(n, 0), err
	case '|': // attributes stand before the value that they belong to
		n, err := length(line, maxItems)
		return 2*max(n, 0) + 1, err
	}
	return 0, nil
}

func readLine(r *bufio.Reader, raw *bytes.Buffer) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	raw.Write(line)
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errNotRESP
	case err != nil:
		return nil, err
	case len(line) < 3 || line[len(line)-2] != '\r':
		return nil, errNotRESP
	}
	return line[:len(line)-2], nil
}

// length returns the number in a line like "$5"; -1 stands for null.
func length(line []byte, limit int) (int, error) {
	n, err := strconv.Atoi(string(line[1:]))
	if err != nil || n < -1 || n > limit {
		return 0, errNotRESP
	}
	return n, nil
}

// readString reads n bytes and the end of the line. What it holds grows with
// what has arrived, not with what was announced.
func readString(r *bufio.Reader, raw *bytes.Buffer, n int) error {
	if _, err := io.CopyN(raw, r, int64(n)+2); err != nil {
		return err
	}
	if !bytes.HasSuffix(raw.Bytes(), []byte("\r\n")) {
		return errNotRESP
	}
	return nil
}

// commandName returns the first word of a command in lower case.
func commandName(cmd []byte) string {
	_, rest, _ := bytes.Cut(cmd, []byte("\r\n")) // *3
	_, rest, _ = bytes.Cut(rest, []byte("\r\n")) // $7
	name, _, _ := bytes.Cut(rest, []byte("\r\n"))
	return string(bytes.ToLower(name))
}
