package faultproxy

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-go/headgate/internal/redistest"
)

// Not parallel: the goroutines of other tests' proxies would be counted.
func TestCloseLeavesNothingBehind(t *testing.T) {
	s := redistest.Start(t)
	p := New(t, s.Addr)
	talk(t, p).check()
	talk(t, p) // says nothing, so the target doesn't know
	p.Delay(Both, time.Hour)
	talk(t, p).say("PING") // held back
	p.BlackHole()
	talk(t, p).say("PING") // swallowed
	s.Pause(t)
	p.Pass()
	talk(t, p).say("PING") // unanswered
	eventually(t, "five connections", func() bool { return p.Stats().Open == 5 })

	p.Close()
	p.Close()
	if n := p.Stats().Open; n != 0 {
		t.Errorf("%d connections are open", n)
	}
	// A goroutine that has told the WaitGroup is still there for a moment.
	eventually(t, "goroutines gone", func() bool { return !strings.Contains(stacks(), "faultproxy.(*") })
	p.Pass() // of a closed proxy: nothing
	if strings.Contains(stacks(), "faultproxy.(*Proxy).serve") {
		t.Error("Pass woke up a closed proxy")
	}
}

func TestModesSwitchUnderLoad(t *testing.T) {
	t.Parallel()
	p := New(t, redistest.Shared(t).Addr)
	c := redis.NewClient(&redis.Options{Addr: p.Addr, MaxRetries: -1, DialerRetries: 1,
		ReadTimeout: 5 * time.Millisecond, WriteTimeout: 5 * time.Millisecond, DialTimeout: 50 * time.Millisecond})
	defer c.Close()

	var load sync.WaitGroup
	stop := make(chan struct{})
	for range 8 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					c.Incr(t.Context(), "under-load") // whether it works is not the point
				}
			}
		})
	}
	modes := []func(){
		func() { p.Delay(Both, time.Millisecond) }, p.BlackHole, p.Pass,
		func() { p.LoseReplies(3, "incr") }, func() { p.CutReplies(1, "") }, func() { p.CutRequests(1, "") },
		p.RefuseNew, func() { p.CutAll() }, func() { p.Stats() }, p.Pass,
	}
	next := time.NewTicker(time.Millisecond)
	defer next.Stop()
	for i := range 300 {
		modes[i%len(modes)]()
		<-next.C
	}
	close(stop)
	load.Wait()
	p.Pass()
	talk(t, p).check()
}

// stacks returns what all goroutines but this one are at.
func stacks() string {
	buf := make([]byte, 1<<20)
	_, others, _ := strings.Cut(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	return others
}
