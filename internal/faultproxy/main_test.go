package faultproxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"github.com/headgate-go/headgate/internal/redistest"
)

func TestMain(m *testing.M) {
	logging.Disable() // of the client, which reports what is done to it here
	os.Exit(redistest.Main(m))
}

// patience is how long anything may take that should happen at once.
const patience = 10 * time.Second

// A talker speaks RESP over one connection, reply by reply. Which reply comes
// first tells what was swallowed, without waiting for what never comes.
type talker struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func talk(t *testing.T, p *Proxy) *talker {
	t.Helper()
	conn, err := net.Dial("tcp", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return &talker{t: t, conn: conn, r: bufio.NewReaderSize(conn, maxLine)}
}

// say sends a command and returns its size.
func (k *talker) say(words ...string) int {
	k.t.Helper()
	cmd := command(words...)
	if _, err := k.conn.Write(cmd); err != nil {
		k.t.Fatal(err)
	}
	return len(cmd)
}

func (k *talker) hears(want string) {
	k.t.Helper()
	got, err := readValue(k.r)
	if err != nil || string(got) != want {
		k.t.Fatalf("heard %q, error %v, want %q", got, err, want)
	}
}

func (k *talker) hearsTheEnd() {
	k.t.Helper()
	got, err := readValue(k.r)
	var timeout net.Error
	if err == nil || errors.As(err, &timeout) && timeout.Timeout() {
		k.t.Fatalf("heard %q, error %v, want the connection cut", got, err)
	}
}

func (k *talker) check() {
	k.t.Helper()
	k.say("PING")
	k.hears("+PONG\r\n")
}

func command(words ...string) []byte {
	var b bytes.Buffer
	b.WriteString("*" + strconv.Itoa(len(words)) + "\r\n")
	for _, w := range words {
		b.WriteString("$" + strconv.Itoa(len(w)) + "\r\n" + w + "\r\n")
	}
	return b.Bytes()
}

func eventually(t *testing.T, what string, reached func() bool) {
	t.Helper()
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); !reached(); <-again.C {
		if time.Now().After(deadline) {
			t.Fatalf("not after %v: %s", patience, what)
		}
	}
}

// stored returns what the server has under key, asked without the proxy.
func stored(t *testing.T, s *redistest.Server, key string) string {
	t.Helper()
	return s.Client(t).Get(t.Context(), key).Val()
}

// parrot is a target that returns what it hears.
func parrot(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	return l.Addr().String()
}
