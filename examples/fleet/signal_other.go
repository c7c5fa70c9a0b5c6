//go:build !unix

package main

import "os"

// Processes can't be frozen here: sending these signals fails the run.
var pauseSignal, continueSignal os.Signal = os.Interrupt, os.Interrupt
