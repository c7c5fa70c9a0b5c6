//go:build unix

package procs

import (
	"errors"
	"io"
)

// A stream is what a process says and is told, as one connection.
type stream struct {
	io.ReadCloser
	in io.WriteCloser
}

func (s stream) Write(p []byte) (int, error) { return s.in.Write(p) }

// Close ends the process's input first: that is what makes it exit.
func (s stream) Close() error { return errors.Join(s.in.Close(), s.ReadCloser.Close()) }
