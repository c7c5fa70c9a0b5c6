//go:build unix && !linux

package procs

import (
	"os/exec"
	"testing"
)

// dieWithParent has no counterpart here: the end of its input ends the child.
func dieWithParent(*exec.Cmd) {}

// awaitStopped has none either: the signal is all there is.
func awaitStopped(testing.TB, int) {}
