package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/throttle"
)

// shortPlan is everything in a few seconds: a storm, a process that is killed
// and one that takes its place, a Redis that hangs.
func shortPlan() plan {
	return plan{
		Name: "short", Title: "a bit of everything", Vendor: twoCounter, Rate: 2400, Window: time.Second,
		Processes: 3, For: 6 * time.Second, From: time.Second, Straggle: 20 * ms, Timeout: time.Second, Lenient: true, Linger: 3 * time.Second,
		Fault: faultStopRedis, Streams: []stream{{Lane: live, Load: 2}, {Lane: background, Load: 1}},
		Script: []act{
			{At: 1500 * ms, Verb: storm, For: time.Second},
			{At: 4 * time.Second, Verb: restart, First: 1, Last: 2},
			{At: 5 * time.Second, Verb: hang, For: 300 * ms},
		},
	}
}

func TestAWholeRun(t *testing.T) {
	t.Parallel()
	redistest.Start(t).Stop(t) // where there is no Redis, it says so
	p := shortPlan()
	var h *history
	err := carryOut(t.Context(), "", []stage{{p}}, func(got *history) error {
		h = got
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	table := judge(h)
	for _, line := range table.Breaches() {
		t.Error(line)
	}
	f := figure(h)
	if f.Sent < 100 || f.Denied == 0 || f.Trips == 0 || h.Reports != 3 || len(h.Kills) != 1 || len(h.Hangs) != 1 {
		t.Errorf("%+v; %d reports, kills %v, hangs %v", f, h.Reports, h.Kills, h.Hangs)
	}
	if s := stops(h); len(s) != 1 || s[0].Told == 0 {
		t.Errorf("storms: %+v, want one that was run into", s)
	}
	reborn := 0
	for _, c := range h.Calls {
		if c.Process == 1 && c.Number > many {
			reborn++
		}
		if c.Process == 1 && c.Number < many {
			t.Fatalf("a killed process tells of a call: %+v", c)
		}
	}
	if reborn == 0 {
		t.Error("nothing was called in the place of the process that was killed")
	}
	if !strings.Contains(chart(h), "process killed") {
		t.Error("the chart doesn't show the kill")
	}
}

func TestWithoutRedisOneLineSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := carryOut(t.Context(), "", []stage{{shortPlan()}}, nil)
	if !errors.Is(err, errNoRedis) || !strings.Contains(err.Error(), "apt-get install redis-server") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one line that says how to get Redis", err)
	}
}

func TestAnAddressWithoutRedisIsNamed(t *testing.T) {
	t.Parallel()
	gone := redistest.Start(t)
	gone.Stop(t)
	p := shortPlan()
	p.Fault, p.Script = faultNone, nil
	err := carryOut(t.Context(), gone.Addr, []stage{{p}}, nil)
	if err == nil || !strings.Contains(err.Error(), gone.Addr) {
		t.Errorf("%v, want an error that names %s", err, gone.Addr)
	}
}

func TestAnEndedContextEndsTheRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 300*ms)
	defer cancel()
	began := time.Now()
	p := shortPlan()
	p.For = time.Hour
	if err := carryOut(ctx, "", []stage{{p}}, nil); err == nil {
		t.Error("an hour's run is over without an error")
	}
	if d := time.Since(began); d > 30*time.Second {
		t.Errorf("it took %v", d)
	}
}

func TestAWorkerEndsWhenNobodyWantsItAnyMore(t *testing.T) {
	t.Parallel()
	p, err := startProcess(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.close()
	if p.cmd.ProcessState == nil || !p.cmd.ProcessState.Success() {
		t.Errorf("it ended as %v, want by itself", p.cmd.ProcessState)
	}
}

func TestAKilledWorkerHasNothingToSay(t *testing.T) {
	t.Parallel()
	p, err := startProcess(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.kill()
	if r, err := p.report(); r != nil || err != nil {
		t.Errorf("%v, %v", r, err)
	}
	p.close()
}

// What is left in Redis is found: calls in flight, keys for ever.
func TestLeftoversAreFound(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	c := server.Client(t)
	r := &run{
		plan: plan{Name: "left", Rate: 60, Window: time.Second, Vendor: fixed, Slots: true, Linger: 2 * time.Second}, prefix: "fleet-left", key: "sk-left",
		store: &store{Addr: server.Addr},
	}
	r.limits = mirror(r.plan, 0)
	s, err := throttle.NewRedisStore(c, throttle.RedisOptions{Prefix: r.prefix, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	th, err := throttle.New(config(r.plan, r.limits, s))
	if err != nil {
		t.Fatal(err)
	}
	defer th.Close()
	permit, err := th.Acquire(t.Context(), throttle.Call{Key: throttle.FingerprintOf(r.key), Model: model})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.slots(t.Context(), c, time.Now()); n != 1 || err != nil {
		t.Errorf("%d slots, error %v, want the one that is held", n, err)
	}
	permit.Done()
	if n, err := r.slots(t.Context(), c, time.Now().Add(20*time.Second)); n != 0 || err != nil {
		t.Errorf("%d slots, error %v, want none", n, err)
	}
	if err := c.Set(t.Context(), r.prefix+":mine", 1, 0).Err(); err != nil {
		t.Fatal(err)
	}
	if err := r.lookAtKeys(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if l := r.history.Leftovers; l.Forever != 1 || l.Looked < 2 {
		t.Errorf("%+v, want a key for ever among at least two", l)
	}
}

func TestInFlightOfAStatusWithoutIt(t *testing.T) {
	t.Parallel()
	if n := inFlight(throttle.Status{}); n != -1 {
		t.Errorf("%d, want -1", n)
	}
}

// The program itself, from its arguments to its exit status and chart.
func TestTheProgram(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/chart.svg"
	redis := redistest.Start(t)
	broken, err := start(t.Context(), []string{
		"-vendor", "fixed", "-rate", "1200", "-window", "1s", "-processes", "2", "-redis", redis.Addr, "-chart", file,
	})
	if err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if p := parseChart(t, string(svg)); !p.says("2 processes share one budget") {
		t.Errorf("the chart says %q", p.texts)
	}
	fmt.Println(broken, "rules broken") // how busy the machine is decides that
}
