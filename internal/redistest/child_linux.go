package redistest

import (
	"os/exec"
	"syscall"
)

// diesWithParent tells tests whether dieWithParent works.
const diesWithParent = true

// dieWithParent has the kernel kill the child once the thread that started it
// is gone, so that a killed test binary leaves no server behind.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
