//go:build unix

package main

import (
	"os"
	"syscall"
)

var pauseSignal, continueSignal os.Signal = syscall.SIGSTOP, syscall.SIGCONT
