package throttle

import "slices"

// local.go decides for this process alone while the store gives no answer. The
// local mode runs the same decisions on a store in memory, with this process's
// part of every limit. That store is told all the while what this process
// spends and which pauses it knows, and kept from one outage to the next, so
// that a store which comes and goes hands out nothing extra.

// mode is what happens to a lane's calls of a queue during an outage: the
// strictest that is named.
func (o *outage) mode(q *queue, lane int) Outage {
	strictest := OutageDefault
	for _, m := range []Outage{o.t.cfg.LaneOutage[o.t.cfg.Lanes[lane].Name], q.outage, o.t.cfg.Outage} {
		if m.strictness() > strictest.strictness() {
			strictest = m
		}
	}
	if strictest == OutageDefault {
		return OutageLocal
	}
	return strictest
}

func (m Outage) strictness() int {
	return [...]int{OutageDefault: 0, OutageOpen: 1, OutageLocal: 2, OutageClosed: 3}[m]
}

// decide answers a claim by each lane's mode.
func (o *outage) decide(q *queue, b *batch) answer {
	c := b.claim
	c.settles, c.fixes, c.number, c.lease = nil, nil, 0, nil // the store's, not ours
	c.knows, c.restore = [2]string{}, nil
	c.floors = nil       // nobody's own part
	c.limits = o.part(q) // each tenant's own included
	c.runs = nil
	var places []int
	var open charges // what the open lanes spend
	ans := answer{local: true, outcomes: make([][]outcome, len(b.claim.runs)), keys: make([]keyView, len(c.keys))}
	for i, r := range b.claim.runs {
		all := func(code outcomeCode) { ans.outcomes[i] = []outcome{{code: code, n: r.n}} }
		switch mode := o.mode(q, r.lane); {
		case r.mayProbe || r.holds != "":
			// Who may probe can't be agreed on now.
			all(deniedKey)
		case mode == OutageOpen && !r.hold:
			all(granted)
			open = open.with(&c, r, r.n)
		case mode == OutageClosed && !r.hold:
			all(deniedStore)
		default:
			c.runs, places = append(c.runs, r), append(places, i)
		}
	}
	c.settles = open // unlimited, but counted
	local, _, _, _ := o.local.decide(&c, -1)
	ans.now, ans.budget, ans.account = local.now, local.budget, local.account
	for j, i := range places {
		ans.outcomes[i] = local.outcomes[j]
	}
	for i, k := range c.keys {
		ans.keys[i].gen = q.a.keyNow(k).gen
	}
	return ans
}

// settle corrects a charge made during an outage, where it was made.
func (o *outage) settle(q *queue, s settlement) {
	o.book(q, []settlement{s}, nil)
}

// book corrects the local counts: by settlements, and up to what everybody has
// used of the limits that are no tenant's own; nil: that isn't known.
func (o *outage) book(q *queue, settles []settlement, used []float64) {
	c := claim{account: q.a.id, budget: q.id, limits: o.part(q), own: q.own, perTenant: len(q.all) - len(q.limits), settles: settles}
	if c.perTenant > 0 {
		for i := range settles {
			c.addTenant(settles[i].tenant)
		}
	}
	c.floors = o.partsUsed(q, c.limits, used)
	o.local.decide(&c, -1)
}

// present is later than every instant of a store: a charge made then counts as
// made now.
const present = 4e15

// charges are settlements that charge runs' costs at present, one for each tenant.
type charges []settlement

// with adds n calls of a run of a claim.
func (s charges) with(c *claim, r run, n int) charges {
	tenant := ""
	if r.tenant > 0 {
		tenant = c.tenants[r.tenant-1].name
	}
	i := slices.IndexFunc(s, func(s settlement) bool { return s.tenant == tenant })
	if i < 0 {
		i = len(s)
		s = append(s, settlement{at: present, delta: make([]float64, len(r.cost)), tenant: tenant})
	}
	for k, cost := range r.cost {
		s[i].delta[k] += float64(float64(n) * cost)
	}
	return s
}

// mirror charges what the store has let through to this process's part, too, and
// takes over how much of each limit everybody has used: of the room that is left,
// too, a process has its part and no more. What is given back later isn't taken
// over, nor is room that others haven't used: too little room here is better than
// too much.
func (o *outage) mirror(q *queue, b *batch, ans *answer) {
	if len(q.all) == 0 || o.t.store.immediate() {
		return // a store in memory is never away
	}
	var spent charges
	for i, outcomes := range ans.outcomes {
		for _, out := range outcomes {
			if out.code == granted || out.code == grantedKey {
				spent = spent.with(&b.claim, b.claim.runs[i], out.n)
			}
		}
	}
	if l := b.claim.lease; l != nil && ans.leased > 0 {
		spent = spent.with(&b.claim, run{cost: l.cost}, int(ans.leased))
	}
	if b.claim.dry {
		return
	}
	o.book(q, spent, ans.used)
}

// partsUsed is what has to be used of this process's parts at least, if it may
// spend no more than its part of the room that is left of the whole.
func (o *outage) partsUsed(q *queue, parts []spec, used []float64) []float64 {
	rank, live := o.fleet()
	floors := make([]float64, len(used))
	for i := range used {
		room := partOf(max(0, q.limits[i].size()-used[i]), rank, live)
		floors[i] = max(0, parts[i].size()-room)
	}
	return floors
}

// paused tells the local store of a pause; budget "" is the whole account's.
func (o *outage) paused(a *account, budget string, left, ramp float64, class Class) {
	o.note(a, budget, verdictNote{class: class, length: left, ramp: ramp})
}

// resumed tells it that one has been ended.
func (o *outage) resumed(a *account, budget string) {
	o.note(a, budget, verdictNote{resume: true})
}

func (o *outage) note(a *account, budget string, v verdictNote) {
	if o.t.store.immediate() {
		return
	}
	if v.scope = ScopeModel; budget == "" {
		v.scope = ScopeKey
	}
	o.local.decide(&claim{account: a.id, budget: budget, keys: []Fingerprint{""}, models: []modelID{""}, verdict: &v}, -1)
}

// part is this process's part of a queue's limits.
func (o *outage) part(q *queue) []spec {
	rank, live := o.fleet()
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := q.part; p.limits != nil && p.rank == rank && p.live == live {
		return p.limits
	}
	q.part = part{rank: rank, live: live, limits: partsOf(q.all, rank, live)}
	return q.part.limits
}

// fleet returns this process's rank and how many there are, for all that is known
// or configured.
func (o *outage) fleet() (rank, live int) {
	rank, live = o.t.store.fleet()
	if n := o.t.cfg.Instances; n > 0 {
		live = n
	}
	live = max(1, live)
	return rank % live, live
}

// A part is what one process of a fleet may spend by itself.
type part struct {
	rank, live int
	limits     []spec
}

func partsOf(limits []spec, rank, live int) []spec {
	parts := make([]spec, len(limits))
	for i, s := range limits {
		s.amount, s.burst = partOfBoth(s.amount, s.burst, rank, live)
		s.ceilings = append([]ceiling(nil), s.ceilings...)
		for j := range s.ceilings {
			l := &s.ceilings[j]
			l.amount, l.burst = partOfBoth(l.amount, l.burst, rank, live)
		}
		parts[i] = s
	}
	return parts
}

// partOfBoth is the part of an amount and its burst. Who has no part of the
// amount has none of the burst: nothing would ever refill it.
func partOfBoth(amount, burst float64, rank, live int) (float64, float64) {
	if amount = partOf(amount, rank, live); amount == 0 {
		return 0, 0
	}
	return amount, partOf(burst, rank, live)
}

// partOf is the part of process rank of live: together they are the whole.
func partOf(amount float64, rank, live int) float64 {
	a, i, n := int64(amount), int64(rank), int64(live)
	// Taken apart so that nothing overflows: a is q*n + r.
	q, r := a/n, a%n
	return float64(q + r*(i+1)/n - r*i/n)
}
