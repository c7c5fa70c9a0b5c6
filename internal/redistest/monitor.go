package redistest

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// monitorTimeout is how long the last lines may take to arrive after fn.
const monitorTimeout = 10 * time.Second

// Monitor runs fn and returns the commands that the server carried out
// meanwhile, in order, each as MONITOR prints it:
//
//	1339518083.107412 [0 127.0.0.1:60866] "get" "x"
//	1339518083.107413 [0 lua] "get" "x"
//
// Commands inside a script are listed with "lua" for an address. A client
// that connects meanwhile adds its greeting.
func (s *Server) Monitor(tb testing.TB, fn func()) []string {
	tb.Helper()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		tb.Fatalf("redistest: monitor: %v", err)
	}
	defer conn.Close()
	lines := bufio.NewReader(conn)
	if err := beginMonitor(conn, lines); err != nil {
		tb.Fatalf("redistest: monitor: %v", err)
	}

	// The server carries out one command after the other, so everything that
	// fn did stands before the marker.
	marker := "redistest-" + uuid.NewString()
	seen := make(chan monitored, 1)
	go func() { seen <- readUntil(lines, marker) }() // while fn runs: the server drops a slow reader
	fn()
	if err := s.mark(marker); err != nil {
		tb.Fatalf("redistest: monitor: %v", err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(monitorTimeout))
	m := <-seen
	if m.err != nil {
		tb.Fatalf("redistest: monitor: %v", m.err)
	}
	return m.lines
}

type monitored struct {
	lines []string
	err   error
}

func beginMonitor(conn net.Conn, lines *bufio.Reader) error {
	_ = conn.SetDeadline(time.Now().Add(monitorTimeout))
	if _, err := conn.Write([]byte("MONITOR\r\n")); err != nil {
		return err
	}
	answer, err := lines.ReadString('\n')
	if err != nil {
		return err
	}
	if answer != "+OK\r\n" {
		return fmt.Errorf("the server answered %q", answer)
	}
	return conn.SetDeadline(time.Time{})
}

// mark has the server print the marker. It speaks for itself, because a client
// would add its greeting to the lines.
func (s *Server) mark(marker string) error {
	c, err := net.Dial("tcp", s.Addr)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(monitorTimeout))
	if _, err := fmt.Fprintf(c, "ECHO %s\r\n", marker); err != nil {
		return err
	}
	_, err = bufio.NewReader(c).ReadString('\n')
	return err
}

func readUntil(r *bufio.Reader, marker string) monitored {
	var m monitored
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return monitored{err: err}
		}
		if strings.Contains(line, marker) {
			return m
		}
		m.lines = append(m.lines, strings.TrimSuffix(strings.TrimPrefix(line, "+"), "\r\n"))
	}
}
