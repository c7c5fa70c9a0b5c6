package main

import (
	"os/exec"
	"syscall"
)

// dieWithParent has the kernel kill the child once the thread that started it
// is gone, so that a killed program leaves nothing behind.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
