//go:build unix

package throttle_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/throttle"
	"github.com/redis/go-redis/v9"
)

// A process that stands still, as with a machine that is suspended, while a
// pause begins, ends, and its own callers' turns pass by.
func TestAProcessThatWasFrozenThroughAPauseGoesOnWithoutABurst(t *testing.T) { // B128
	if addr := os.Getenv("HEADGATE_FROZEN"); addr != "" {
		frozenProcess(t, addr)
		return
	}
	server := redistest.Start(t)
	th := newThrottle(t, frozenConfig(t, server.Addr))
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "HEADGATE_FROZEN="+server.Addr)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	says := bufio.NewScanner(out)
	await := func(want string) {
		t.Helper()
		for says.Scan() {
			if says.Text() == want {
				return
			}
		}
		t.Fatalf("the other process ended without saying %q", want)
	}
	await("waiting")
	if err := child.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for th.Check(context.Background(), call()) != nil { // until the pause is over for everybody else
	}
	if err := child.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	await("went: 2")
	if p, err := tryNow(t, th, call()); err == nil {
		p.Done()
		t.Error("only one of the two calls was counted")
	}
}

// frozenConfig has room for two calls.
func frozenConfig(t *testing.T, addr string) throttle.Config {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = client.Close() })
	store, err := throttle.NewRedisStore(client, throttle.RedisOptions{Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return throttle.Config{Store: store, Lanes: patient(), Pause: noRamp, Budgets: budget(throttle.Requests(3, 24*time.Hour))}
}

// frozenProcess has ten callers wait for the end of a pause, where two have
// room, and says how many went once the others were refused.
func frozenProcess(t *testing.T, addr string) {
	cfg := frozenConfig(t, addr)
	cfg.Lanes[0].Wait = time.Minute // for the pause, not for tomorrow
	th := newThrottle(t, cfg)
	answer(t, th, call(), busy(2*time.Second))
	var went atomic.Int64
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if p, err := th.Acquire(context.Background(), call()); err == nil {
				went.Add(1)
				p.Done()
			}
		})
	}
	for s, _ := th.Status(context.Background()); s.Waiting < 10; s, _ = th.Status(context.Background()) {
		time.Sleep(time.Millisecond)
	}
	fmt.Println("waiting")
	wg.Wait()
	fmt.Printf("went: %d\n", went.Load())
}
