//go:build unix

package procs_test

import (
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/procs"
)

func init() { procs.Serve("counter", &Counter{}) }

// A Counter counts in a process of its own.
type Counter struct{ n atomic.Int64 }

func (c *Counter) Add(by int, sum *int) error {
	fmt.Println() // goes elsewhere, or it would break the reply
	*sum = int(c.n.Add(int64(by)))
	return nil
}

func (c *Counter) PID(_ int, pid *int) error { *pid = os.Getpid(); return nil }

func (c *Counter) Hang(int, *int) error { select {} }

func TestAProcessAnswersUntilItIsKilled(t *testing.T) {
	p, other := procs.Start(t, "counter"), procs.Start(t, "counter")
	var sum, pid int
	p.Call(t, "Add", 2, &sum)
	p.Call(t, "Add", 3, &sum)
	if p.Call(t, "PID", 0, &pid); sum != 5 || pid == os.Getpid() {
		t.Fatalf("the sum is %d in process %d, which is ours or not", sum, pid)
	}
	hangs := p.Go("Hang", 0, &sum)
	p.Kill(t)
	if err := (<-hangs.Done).Error; !errors.Is(err, rpc.ErrShutdown) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a call of a killed process: %v", err)
	}
	if other.Call(t, "Add", 1, &sum); sum != 1 {
		t.Errorf("the other counts %d", sum)
	}
}

func TestAFrozenProcessAnswersOnceItThaws(t *testing.T) {
	p := procs.Start(t, "counter")
	var sum int
	p.Call(t, "Add", 1, &sum)
	p.Freeze(t)
	late := p.Go("Add", 1, new(int))
	select {
	case <-late.Done:
		t.Error("a frozen process answers")
	case <-time.After(100 * time.Millisecond):
	}
	p.Thaw(t)
	if err := (<-late.Done).Error; err != nil {
		t.Error(err)
	}
}
