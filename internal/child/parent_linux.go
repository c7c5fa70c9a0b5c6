package child

import (
	"os/exec"
	"syscall"
)

// EndsWithParent is whether the system ends a child with its parent.
const EndsWithParent = true

// dieWithParent has the kernel kill the child once the thread that started it is
// gone: a frozen one would not notice the end of its input.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
