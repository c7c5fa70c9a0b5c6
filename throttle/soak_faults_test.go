//go:build unix

package throttle_test

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/headgate-go/headgate/internal/faultproxy"
	"github.com/headgate-go/headgate/internal/procs"
	"github.com/headgate-go/headgate/throttle"
)

// A harm is one thing that happens to a fleet, and is over when do returns, but
// for what a proxy was told for the next commands.
type harm struct {
	name   string
	weight int
	do     func(s *soaked, r *rand.Rand)
}

// harms are all faults, by how often each comes.
var harms = []harm{
	{"cut connections", 6, func(s *soaked, r *rand.Rand) { s.proxy(r).CutAll() }},
	{"slow replies", 6, func(s *soaked, r *rand.Rand) {
		s.during(r, 400, func(p *faultproxy.Proxy) { p.Delay(faultproxy.Both, time.Duration(1+r.IntN(60))*time.Millisecond) })
	}},
	{"silence", 4, func(s *soaked, r *rand.Rand) { s.during(r, 800, (*faultproxy.Proxy).BlackHole) }},
	{"refused connections", 4, func(s *soaked, r *rand.Rand) {
		s.during(r, 500, func(p *faultproxy.Proxy) { p.RefuseNew(); p.CutAll() })
	}},
	{"lost replies", 6, func(s *soaked, r *rand.Rand) { s.proxy(r).LoseReplies(1+r.IntN(3), "evalsha") }},
	{"cut replies", 6, func(s *soaked, r *rand.Rand) { s.proxy(r).CutReplies(1+r.IntN(5), "evalsha") }},
	{"cut requests", 6, func(s *soaked, r *rand.Rand) { s.proxy(r).CutRequests(1+r.IntN(5), "evalsha") }},
	{"flushed scripts", 3, func(s *soaked, _ *rand.Rand) { _ = s.direct.ScriptFlush(context.Background()) }},
	{"a frozen Redis", 2, func(s *soaked, r *rand.Rand) {
		s.server.Pause(s.t)
		time.Sleep(time.Duration(r.IntN(300)) * time.Millisecond)
		s.server.Continue(s.t)
	}},
	{"a restarted Redis", 1, func(s *soaked, _ *rand.Rand) { s.server.Restart(s.t) }},
	{"a killed process", 2, func(s *soaked, r *rand.Rand) {
		s.worker(r, func(w *procs.Process) *procs.Process { w.Kill(s.t); return s.hire() })
	}},
	{"a frozen process", 4, func(s *soaked, r *rand.Rand) {
		s.worker(r, func(w *procs.Process) *procs.Process {
			w.Freeze(s.t)
			time.Sleep(time.Duration(r.IntN(800)) * time.Millisecond)
			w.Thaw(s.t)
			return w
		})
	}},
	{"a reload", 4, func(s *soaked, r *rand.Rand) {
		if err := s.fleet[r.IntN(len(s.fleet))].SetBudgets(soakBudgets(r.IntN(6))); err != nil {
			s.t.Error(err)
		}
	}},
	{"an operator's pause", 2, func(s *soaked, r *rand.Rand) {
		th, c := s.fleet[r.IntN(len(s.fleet))], soakCalls()[r.IntN(len(soakCalls()))]
		scope := []throttle.Scope{throttle.ScopeModel, throttle.ScopeKey}[r.IntN(2)]
		_ = th.Pause(context.Background(), c, scope, 200*time.Millisecond) // in an outage it can't be told
		time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
		_ = th.Resume(context.Background(), c, scope)
	}},
}

// harm does one thing after another until the end, and looks all the while
// whether any key would stay for ever.
func (s *soaked) harm(end <-chan time.Time) {
	r := rand.New(rand.NewPCG(1, 1))
	all := 0
	for _, h := range harms {
		all += h.weight
	}
	looks := time.NewTicker(time.Second)
	defer looks.Stop()
	for {
		pick := r.IntN(all)
		for _, h := range harms {
			if pick -= h.weight; pick < 0 {
				h.do(s, r)
				s.faults[h.name]++
				break
			}
		}
		select {
		case <-end:
			return
		case <-looks.C:
			s.wantEveryKeyToExpire()
		case <-time.After(time.Duration(r.IntN(150)) * time.Millisecond):
		}
	}
}

// wantEveryKeyToExpire asks over one connection, however often it is called.
func (s *soaked) wantEveryKeyToExpire() {
	s.t.Helper()
	ctx := context.Background()
	names, err := s.direct.Keys(ctx, "*").Result()
	if err != nil {
		s.t.Fatal(err)
	}
	for _, name := range names {
		if left, err := s.direct.PTTL(ctx, name).Result(); err != nil || left == -1 {
			s.t.Errorf("%q never expires: %v", name, err)
		}
	}
}

func (s *soaked) proxy(r *rand.Rand) *faultproxy.Proxy { return s.proxies[r.IntN(len(s.proxies))] }

// during does something to a proxy for up to so many milliseconds.
func (s *soaked) during(r *rand.Rand, most int, do func(*faultproxy.Proxy)) {
	p := s.proxy(r)
	do(p)
	time.Sleep(time.Duration(1+r.IntN(most)) * time.Millisecond)
	p.Pass()
}

// worker does something to a process of which another may take the place.
func (s *soaked) worker(r *rand.Rand, do func(*procs.Process) *procs.Process) {
	i := r.IntN(len(s.workers))
	s.workers[i] = do(s.workers[i])
}

// report says what was done and what it came to.
func (s *soaked) report(before footprint) {
	after := s.after
	s.t.Logf("%d calls went, of which %d were cancelled, and %d were denied, over %d outages; the longest took %v beyond its patience",
		s.went.Load(), s.cancelled.Load(), s.denied.Load(), s.began.Load(), time.Duration(s.longest.Load()).Round(time.Millisecond))
	s.t.Logf("%d goroutines after %d, %d kB of heap after %d, %d keys after %d",
		after.goroutines, before.goroutines, after.heap>>10, before.heap>>10, len(after.keys), len(before.keys))
	for _, h := range harms {
		s.t.Logf("%4d times %s", s.faults[h.name], h.name)
	}
}
