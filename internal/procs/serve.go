//go:build unix

package procs

import (
	"fmt"
	"io"
	"net/rpc"
	"os"
)

// variable is set in the environment of a process to the name of what it does.
const variable = "HEADGATE_PROCESS"

// service is the name under which the methods are called.
const service = "Process"

// Serve becomes the process that Start was asked for by this name: it serves
// the methods of v until its input ends, and exits. In any other process it
// does nothing. It is to be called by an init function.
func Serve(name string, v any) {
	if os.Getenv(variable) != name {
		return
	}
	wire := stdio{os.Stdin, os.Stdout}
	os.Stdout = os.Stderr // what is printed must not get into the replies
	s := rpc.NewServer()
	if err := s.RegisterName(service, v); err != nil {
		fmt.Fprintln(os.Stderr, "procs:", err)
		os.Exit(2)
	}
	s.ServeConn(wire)
	os.Exit(0)
}

// stdio is the two pipes as one connection.
type stdio struct {
	io.Reader
	io.WriteCloser
}

// Read ends the process with its input, though calls may still be running.
func (c stdio) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil {
		os.Exit(0)
	}
	return n, nil
}
