//go:build unix && !linux

package procs

import "testing"

// awaitStopped has no counterpart here: the signal is all there is.
func awaitStopped(testing.TB, int) {}
