package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
)

// A host stands in for a test where a test server asks for one: it keeps what
// is to be undone, and turns a failure into a panic that bench.measure takes for
// an error. Of testing.TB it has what the test servers use; anything else would
// panic.
type host struct {
	testing.TB

	mu   sync.Mutex
	undo []func() // Guarded by mu.
}

// A failure is what a host panics with.
type failure struct{ error }

func (h *host) Helper()                  {}
func (h *host) Name() string             { return "peerbench" }
func (h *host) Context() context.Context { return context.Background() }

func (h *host) Cleanup(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.undo = append(h.undo, f)
}

func (h *host) TempDir() string {
	dir, err := os.MkdirTemp("", "peerbench")
	if err != nil {
		panic(failure{err})
	}
	h.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (h *host) Fatal(args ...any)                 { panic(failure{fmt.Errorf("%s", fmt.Sprint(args...))}) }
func (h *host) Fatalf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }
func (h *host) Errorf(format string, args ...any) { h.Fatalf(format, args...) }

// close undoes everything, the last first.
func (h *host) close() {
	for {
		h.mu.Lock()
		n := len(h.undo)
		if n == 0 {
			h.mu.Unlock()
			return
		}
		f := h.undo[n-1]
		h.undo = h.undo[:n-1]
		h.mu.Unlock()
		f()
	}
}
