package throttle

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/probe"
)

// A fleetPlan is a random fleet and what will happen to it, all of it made from
// one number.
type fleetPlan struct {
	seed     uint64
	windows  []time.Duration
	rand     *rand.Rand
	procs    int
	lanes    []lanes.Lane
	shares   []int64 // millionths
	budgets  [][]Limit
	account  []Limit
	accounts int
	keys     int
	outage   Outage
	every    time.Duration // between probes
	pausing  pause.Policy
	lease    leasing.Policy

	delay     time.Duration // of a message, at most
	lossy     bool          // claims and answers are lost
	kills     bool
	forgets   bool
	verdicts  bool
	sends     bool // probes are the throttle's own
	calls     int
	gap       time.Duration // mean time between calls
	span      time.Duration // the longest window
	impatient bool          // callers wait a second at most
}

func planFleet(seed uint64, windows []time.Duration) *fleetPlan {
	p := &fleetPlan{seed: seed, windows: windows, rand: rand.New(rand.NewPCG(seed, 77))}
	p.procs = 2 + p.rand.IntN(5)
	p.accounts = 1 + p.rand.IntN(5)/4
	p.keys = 1 + p.rand.IntN(2)
	p.delay = []time.Duration{50 * time.Microsecond, time.Millisecond, 5 * time.Millisecond, 30 * time.Millisecond}[p.rand.IntN(4)]
	p.lossy, p.kills, p.forgets = p.one(3), p.one(4), p.one(5)
	p.verdicts, p.sends = p.one(2), p.one(4)
	p.outage = Outage(p.rand.IntN(4))
	p.every = time.Duration(1+p.rand.IntN(20)) * 500 * time.Millisecond
	p.pausing = pause.Policy{Default: time.Second, Max: time.Duration(2+p.rand.IntN(8)) * time.Second, Ramp: time.Duration(p.rand.IntN(3)-1) * 2 * time.Second}
	if p.one(3) {
		p.lease = leasing.Auto()
		if p.one(2) {
			p.lease = leasing.Policy{Chunk: 1 + p.rand.Int64N(12), MaxAge: time.Duration(p.rand.IntN(3)) * 50 * time.Millisecond}
		}
	}
	p.someLanes()
	for range 1 + p.rand.IntN(2) {
		p.budgets = append(p.budgets, p.someLimits(1+p.rand.IntN(3)))
	}
	if p.one(2) {
		p.account = p.someLimits(1 + p.rand.IntN(2))
	}
	p.pace()
	return p
}

// ages reports whether spending of an outage is booked as far as it still counts,
// as it always is outside of these tests. In the other half all of it is, so that
// in the end everything must be booked to the last unit.
func (p *fleetPlan) ages() bool { return p.seed%2 == 0 }

func (p *fleetPlan) one(in int) bool { return p.rand.IntN(in) == 0 }

func (p *fleetPlan) someLanes() {
	waits := []time.Duration{0, 0, 50 * time.Millisecond, time.Second, 5 * time.Second, -1}
	for i := range 1 + p.rand.IntN(3) {
		share := int64(1e6)
		if i > 0 || p.one(4) {
			share = []int64{1e6, 600_000, 500_000, 290_000, 800_000, 333_333}[p.rand.IntN(6)]
		}
		p.shares = append(p.shares, share)
		p.lanes = append(p.lanes, lanes.Lane{
			Name: fmt.Sprint("lane", i), Share: float64(share) / 1e6, Wait: waits[p.rand.IntN(len(waits))],
		})
	}
}

var fleetWindows = []time.Duration{
	100 * time.Millisecond, 250 * time.Millisecond, time.Second, time.Second, 2 * time.Second, 10 * time.Second, time.Minute,
}

func (p *fleetPlan) someLimits(n int) []Limit {
	var limits []Limit
	for len(limits) < n {
		l := Limit{
			Unit: Unit(p.rand.IntN(2)), Amount: 2 + p.rand.Int64N(30),
			Per: p.windows[p.rand.IntN(len(p.windows))], Algorithm: Algorithm(p.rand.IntN(5)),
		}
		if l.Unit == UnitTokens {
			l.Amount *= 10 + p.rand.Int64N(50)
		}
		switch {
		case l.Algorithm >= TokenBucket && p.one(2):
			l.Burst = 1 + p.rand.Int64N(2*l.Amount)
		case l.Algorithm <= FixedWindow && p.one(2):
			l.Offset = []time.Duration{-1, l.Per / 3 / time.Microsecond * time.Microsecond}[p.rand.IntN(2)]
		}
		again := false
		for _, m := range limits {
			again = again || l.sameCounter(m)
		}
		if !again {
			limits, p.span = append(limits, l), max(p.span, l.Per)
		}
	}
	return limits
}

// longest is how long a fleet may live: no claim is forgotten by then.
const longest = 400 * time.Second

// pace chooses how many calls there will be, and how often, from well below
// what the tightest limit lets through to a multiple of it.
func (p *fleetPlan) pace() {
	slowest := time.Duration(0)
	for _, limits := range append(p.budgets, p.account) {
		for _, l := range limits {
			cost := int64(1)
			if l.Unit == UnitTokens {
				cost = 12
			}
			slowest = max(slowest, l.Per*time.Duration(cost)/time.Duration(l.Amount))
		}
	}
	load := []float64{0.5, 1, 1.5, 4}[p.rand.IntN(4)]
	p.gap = max(time.Duration(float64(slowest)/load/float64(len(p.budgets))), 200*time.Microsecond)
	p.calls = min(60+p.rand.IntN(300), 20+int(longest/2/p.gap))
}

// config is that of one process.
func (p *fleetPlan) config(store Store) Config {
	c := Config{
		Store: store, Account: p.account, Lanes: p.lanes, Outage: p.outage,
		Pause: p.pausing, Probe: probe.Policy{Every: p.every}, Lease: p.lease,
	}
	for i, limits := range p.budgets {
		c.Budgets = append(c.Budgets, Budget{Name: fmt.Sprint("budget", i), Models: []string{fmt.Sprint("model", i, "*")}, Limits: limits})
	}
	return c
}

func (p *fleetPlan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d processes, %d accounts, %d keys, %d calls every %v, messages take up to %v", p.procs, p.accounts, p.keys, p.calls, p.gap, p.delay)
	for name, is := range map[string]bool{"lossy": p.lossy, "kills": p.kills, "forgets": p.forgets, "verdicts": p.verdicts, "own probes": p.sends, "leases": !p.lease.Off()} {
		if is {
			fmt.Fprintf(&b, ", %s", name)
		}
	}
	for _, l := range p.lanes {
		fmt.Fprintf(&b, "\n  lane %s: share %v, waits %v", l.Name, l.Share, l.Wait)
	}
	for i, limits := range append(p.budgets, p.account) {
		fmt.Fprintf(&b, "\n  budget %d (the last is the account's): ", i)
		for _, l := range limits {
			fmt.Fprintf(&b, "[%v %v burst %d offset %v] ", l, l.Algorithm, l.Burst, l.Offset)
		}
	}
	return b.String()
}
