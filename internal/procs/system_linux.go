package procs

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"
)

// awaitStopped returns when the kernel says that every thread has stopped.
func awaitStopped(tb testing.TB, pid int) {
	tb.Helper()
	for deadline := time.Now().Add(exitWithin); !stopped(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatalf("procs: a process isn't frozen after %v", exitWithin)
		}
	}
}

func stopped(pid int) bool {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	threads, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(dir + "/" + thread.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		// The state follows the name, which stands in parentheses.
		_, rest, ok := bytes.Cut(stat, []byte(") "))
		if !ok || len(rest) == 0 || rest[0] != 'T' {
			return false
		}
	}
	return true
}
