// Package child starts processes that don't outlive this one, where the system
// can see to that.
package child

import (
	"os"
	"os/exec"
	"runtime"
)

// A Child is a process that was started. Its methods are safe for concurrent use.
type Child struct {
	cmd    *exec.Cmd
	exited chan struct{}
	err    error
}

// Start starts the command, and reaps it when it ends. If this process is killed,
// Linux kills the child, too; elsewhere (see EndsWithParent) the child has to
// notice. It replaces the command's SysProcAttr.
func Start(cmd *exec.Cmd) (*Child, error) {
	c := &Child{cmd: cmd, exited: make(chan struct{})}
	dieWithParent(cmd)
	started := make(chan error)
	// The goroutine keeps its thread until the child is gone: Linux ends such a
	// child with the thread that started it, not with the parent as a whole.
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			c.err = cmd.Wait()
			close(c.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return c, nil
}

// PID is the process's number, also once it has ended.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Signal sends a signal to the process.
func (c *Child) Signal(s os.Signal) error { return c.cmd.Process.Signal(s) }

// Exited is closed once the process is gone and reaped.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Err waits for the end of the process and is how it ended; nil: with status 0.
func (c *Child) Err() error {
	<-c.exited
	return c.err
}

// Kill ends the process, frozen or not, and waits until it is reaped. One that is
// gone already is an error, os.ErrProcessDone.
func (c *Child) Kill() error {
	err := c.cmd.Process.Kill()
	<-c.exited
	return err
}
