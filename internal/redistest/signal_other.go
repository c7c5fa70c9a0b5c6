//go:build !unix

package redistest

import "os"

// Processes can't be frozen here; sending these signals fails the test.
var pauseSignal, continueSignal os.Signal = os.Interrupt, os.Interrupt
