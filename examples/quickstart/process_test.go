package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/throttle"
)

func TestProcessesShareABudget(t *testing.T) {
	t.Parallel()
	v := startTestVendor(t)
	customer := v.open("sk-test", 0, 0)
	s := &stage{vendor: v, redis: redistest.Start(t).Addr, prefix: "quickstart-test", processes: 2}
	got, err := s.perform(t.Context(), job{
		// A window that doesn't end during the test.
		Key: "sk-test", Limit: throttle.Requests(10, 24*time.Hour), For: 200 * time.Millisecond,
		Streams: []stream{{Lane: live, Every: 5 * time.Millisecond}},
	}, soon)
	if err != nil {
		t.Fatal(err)
	}
	want := tally{Offered: 40, Answered: 10, Denied: 30, Slowest: got[live].Slowest, Trips: got[live].Trips}
	if got[live] != want {
		t.Errorf("%+v, want %+v", got[live], want)
	}
	if n := len(customer.arrivals(nil)); n != 10 {
		t.Errorf("the vendor saw %d calls, want 10", n)
	}
	s.tidy()
	if n, err := s.keysWithoutExpiry(t.Context()); n != 0 || err != nil {
		t.Errorf("%d keys without expiry, error %v", n, err)
	}
}

func TestProcessEndsWhenNobodyWantsItAnyMore(t *testing.T) {
	t.Parallel()
	p := startTestProcess(t, t.Context())
	began := time.Now()
	p.close()
	if p.cmd.ProcessState == nil || !p.cmd.ProcessState.Success() {
		t.Errorf("after %v it ended as %v, want by itself", time.Since(began), p.cmd.ProcessState)
	}
}

func TestProcessIsKilledWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := startTestProcess(t, ctx)
	cancel()
	if _, err := p.run(time.Now().Add(time.Hour)); err == nil {
		t.Error("a killed process reports")
	}
	p.close()
}

func TestProcessSaysWhyItCannotStart(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.Stop(t)
	_, err := startProcess(t.Context(), job{Limit: throttle.Requests(1, time.Second), Redis: s.Addr, Workers: 1})
	if err == nil || !strings.Contains(err.Error(), s.Addr) {
		t.Errorf("%v, want an error that names %s", err, s.Addr)
	}
}

func TestProcessDiesAndSaysWhatItHad(t *testing.T) {
	t.Parallel()
	// One call goes out, and the next ones wait for two seconds.
	v := startTestVendor(t)
	v.open("sk-test", 0, 0)
	p, err := startProcess(t.Context(), job{
		Vendor: v.url, Key: "sk-test", Limit: throttle.Requests(1, 2*time.Second), Patience: -1,
		For: time.Hour, Death: thinking / 2, Workers: 1,
		Streams: []stream{{Lane: live, Every: time.Millisecond}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.run(time.Now())
	if err != nil || r.Legacy == nil || r.Legacy.Waiting == 0 || r.Legacy.complete() {
		t.Errorf("%+v, error %v, want a legacy with waiting callers and no leases", r, err)
	}
	p.close()
	if p.cmd.ProcessState.Success() {
		t.Error("it ended by itself")
	}
}

func startTestProcess(t *testing.T, ctx context.Context) *process {
	t.Helper()
	p, err := startProcess(ctx, job{
		Limit: throttle.Requests(1, time.Second), For: time.Second, Workers: 1,
		Streams: []stream{{Lane: live, Every: time.Second}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
