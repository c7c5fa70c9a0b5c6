package faultproxy

import (
	"bufio"
	"bytes"
	"errors"
	"strings"
	"testing"
)

var values = []string{
	"+OK\r\n", "+\r\n", "-ERR no\r\n", ":-1\r\n", "$-1\r\n", "$0\r\n\r\n", "$4\r\na\r\nb\r\n",
	"*-1\r\n", "*0\r\n", "*2\r\n:1\r\n$1\r\nx\r\n", "*2\r\n*1\r\n*1\r\n:1\r\n+x\r\n",
	"_\r\n", "#t\r\n", ",3.14\r\n", "(12345678901234567890\r\n",
	"!5\r\nERR x\r\n", "=5\r\ntxt:x\r\n", "%1\r\n+a\r\n:1\r\n", "~2\r\n:1\r\n:2\r\n",
	">2\r\n+invalidate\r\n*1\r\n+k\r\n", "|1\r\n+ttl\r\n:1\r\n+value\r\n", "*1\r\n|1\r\n+ttl\r\n:1\r\n+value\r\n",
	"%2\r\n+a\r\n%1\r\n+b\r\n*2\r\n:1\r\n:2\r\n+c\r\n_\r\n",
}

func TestValuesAreTakenOneByOne(t *testing.T) {
	t.Parallel()
	r := reader(strings.Join(values, ""))
	for _, want := range values {
		if got, err := readValue(r); string(got) != want || err != nil {
			t.Fatalf("read %q, error %v, want %q", got, err, want)
		}
	}
	if _, err := r.ReadByte(); err == nil {
		t.Error("bytes are left")
	}
}

func TestHalfAValueIsNone(t *testing.T) {
	t.Parallel()
	for _, v := range values {
		for n := range len(v) {
			got, err := readValue(reader(v[:n]))
			if err == nil || errors.Is(err, errNotRESP) {
				t.Errorf("of %q the first %d bytes are read with error %v", v, n, err)
			}
			if string(got) != v[:n] {
				t.Errorf("of %q the bytes %q were taken and %q returned", v, v[:n], got)
			}
		}
	}
}

func TestWhatIsNotRESP(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"PING\r\n", "\x16\x03\x01", "+OK\n", "\r\n", "$x\r\n", "$\r\n", "$-2\r\n", "$3\r\nabcd\r\n",
		"$99999999999999999999\r\n", "$536870913\r\n", "*16777217\r\n", "*x\r\n", "%-5\r\n", "*1\r\nx\r\n",
		"*16777216\r\n*2\r\n", "+" + strings.Repeat("x", maxLine),
	} {
		got, err := readValue(reader(s + strings.Repeat("\r\n", 4)))
		if !errors.Is(err, errNotRESP) {
			t.Errorf("%.30q: read %.30q, error %v, want %v", s, got, err, errNotRESP)
		}
	}
}

func TestCommandName(t *testing.T) {
	t.Parallel()
	for cmd, want := range map[string]string{
		string(command("SSubscribe", "c")): "ssubscribe",
		"*0\r\n":                           "",
		"*1\r\n":                           "",
		"*1\r\n:1\r\n":                     "",
	} {
		if got := commandName([]byte(cmd)); got != want {
			t.Errorf("%q: %q, want %q", cmd, got, want)
		}
	}
}

func FuzzReadValue(f *testing.F) {
	for _, v := range values {
		f.Add([]byte(v))
	}
	f.Add([]byte("$536870912\r\n"))
	f.Add([]byte("*16777216\r\n*16777216\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := reader(string(in))
		got, err := readValue(r)
		if !bytes.HasPrefix(in, got) {
			t.Fatalf("returned %q of %q", got, in)
		}
		if rest := r.Buffered(); len(in) <= maxLine && len(got)+rest != len(in) && rest > 0 {
			t.Fatalf("of %q %d bytes were returned and %d are left", in, len(got), rest)
		}
		_ = commandName(got)
		if err != nil {
			return
		}
		if again, err := readValue(reader(string(got))); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("%q is read as %q the second time, error %v", got, again, err)
		}
		if part, err := readValue(reader(string(got[:len(got)-1]))); err == nil {
			t.Fatalf("of %q already %q is a value", got, part)
		}
	})
}

func reader(s string) *bufio.Reader { return bufio.NewReaderSize(strings.NewReader(s), maxLine) }
