//go:build unix

package procs

import (
	"net/rpc"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/child"
)

// A Process is another run of the test binary. Its methods are safe for
// concurrent use.
type Process struct {
	child  *child.Child
	client *rpc.Client
	killed atomic.Bool
}

// exitWithin is how long a process may take to exit once its input has ended.
const exitWithin = 20 * time.Second

// Start runs this binary as the process of that name. It ends with the test,
// which fails if it has ended by itself before, or with a data race.
func Start(tb testing.TB, name string) *Process {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal("procs: ", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal("procs: ", err)
	}
	p := &Process{}
	if p.child, err = child.Start(cmd); err != nil {
		tb.Fatal("procs: ", err)
	}
	p.client = rpc.NewClient(stream{out, in})
	tb.Cleanup(func() { p.end(tb) })
	return p
}

// end closes the process's input, and waits for its exit.
func (p *Process) end(tb testing.TB) {
	_ = p.client.Close() // it may be gone
	if p.killed.Load() {
		return
	}
	_ = p.child.Signal(syscall.SIGCONT)
	select {
	case <-p.child.Exited():
		if err := p.child.Err(); err != nil {
			tb.Errorf("procs: a process ended by itself: %v", err)
		}
	case <-time.After(exitWithin):
		tb.Error("procs: a process doesn't exit")
		p.Kill(tb)
	}
}

// Call calls a method and fails the test if it returns an error.
func (p *Process) Call(tb testing.TB, method string, args, reply any) {
	tb.Helper()
	if err := p.client.Call(service+"."+method, args, reply); err != nil {
		tb.Fatalf("procs: %s: %v", method, err)
	}
}

// Go calls a method and doesn't wait for it. The error of a process that was
// killed is rpc.ErrShutdown or io.ErrUnexpectedEOF.
func (p *Process) Go(method string, args, reply any) *rpc.Call {
	return p.client.Go(service+"."+method, args, reply, make(chan *rpc.Call, 1))
}

// Kill ends the process at once, frozen or not, and returns when it is gone. No
// instruction of it runs any more.
func (p *Process) Kill(tb testing.TB) {
	tb.Helper()
	p.killed.Store(true)
	if err := p.child.Kill(); err != nil {
		tb.Errorf("procs: kill: %v", err)
	}
}

// Freeze stops the process where it is: its clocks go on, and it does nothing,
// until Thaw. It returns when every thread of it stands still, where the system
// says so.
func (p *Process) Freeze(tb testing.TB) {
	tb.Helper()
	p.signal(tb, syscall.SIGSTOP)
	awaitStopped(tb, p.child.PID())
}

// Thaw ends Freeze.
func (p *Process) Thaw(tb testing.TB) {
	tb.Helper()
	p.signal(tb, syscall.SIGCONT)
}

func (p *Process) signal(tb testing.TB, s syscall.Signal) {
	tb.Helper()
	if err := p.child.Signal(s); err != nil {
		tb.Fatalf("procs: %v: %v", s, err)
	}
}
