package throttle

// run checks what a run's calls were told, one outcome after another, and does
// likewise.
func (r *referee) run(run *run, outcomes []outcome, charged []int64) {
	cost := whole64s(run.cost)
	if run.hold {
		for i, n := range cost {
			r.turns.ahead[i] += n
		}
		for i, n := range run.pauses {
			r.turns.aheadRamp[i] += whole64(n)
		}
		return
	}
	left := int64(run.n)
	key := r.shop.key(r.c.keys[run.key])
	wasRefused := key.refused
	if !wasRefused {
		r.letAhead(run)
	}
	for _, o := range outcomes {
		n := int64(o.n)
		r.must(n > 0 && n <= left, "one outcome each", "%d outcomes for %d calls", n, left)
		left -= n
		switch {
		case wasRefused:
			r.refused(run, key, o, cost, charged)
		case r.modelDenied(run, o):
		case o.code == granted:
			r.granted(run, o, cost, charged)
		default:
			r.heldBack(run, o, cost)
		}
	}
	r.must(left == 0, "one outcome each", "%d calls of a run were told nothing", left)
}

// granted checks that the calls had room behind all who go before them, within
// their lane's ceiling, and no pause.
func (r *referee) granted(run *run, o outcome, cost []int64, charged []int64) {
	n, lane := int64(o.n), run.lane
	for i, m := range r.meters {
		if cost[i] == 0 {
			continue
		}
		free, ahead := m.free(lane, r.now), r.turns.ahead[i]
		r.must(n*cost[i] <= free, "1 and 3, never above the budget or the lane's ceiling",
			"%d calls of %d units went in lane %d, limit %d (%v) had %d left for it", n, cost[i], lane, i, m.Limit, free)
		r.must(n*cost[i]+ahead <= free, "4, order",
			"%d calls of %d units went in lane %d, limit %d (%v) had %d left for it, and %d are waited for by those who come first",
			n, cost[i], lane, i, m.Limit, free, ahead)
		if m.Algorithm == SlidingLog {
			r.must(m.strictly(r.now)+n*cost[i] <= m.portions[lane].amount, "1, never above the budget",
				"limit %d (%v): with %d more there are too many in the window up to now", i, m.Limit, n*cost[i])
		}
	}
	for i, b := range r.books {
		p := b.pause
		r.must(p.until <= r.now, "7, pauses", "%d calls went during pause %d", n, i)
		if !p.ramping(r.now) {
			continue
		}
		last := p.gone + r.turns.aheadRamp[i] + n - 1
		r.must(r.pace(cost).mayLeave(last, p.ramp, r.now-p.until+1), "7, ramp",
			"call %d of the ramp %d went %d us after the pause", last, i, r.now-p.until)
	}
	r.take(cost, n, charged)
	r.turns.went[lane] = true
	r.calls += o.n
}

// pace is that of the limit which lets the fewest such calls through.
func (r *referee) pace(cost []int64) pace {
	slowest := pace{}
	for i, m := range r.meters {
		if p := (pace{m.Amount, cost[i], m.per}); cost[i] > 0 && (slowest.free() || p.slower(slowest)) {
			slowest = p
		}
	}
	return slowest
}

// lacking is what a call lacks now, and when it has all of it; alone is when it
// would if nobody of other processes went first.
func (r *referee) lacking(lane int, cost []int64) (lacks lackSet, at, alone int64, paused bool) {
	at, alone = r.now, r.now
	for i, b := range r.books {
		p, k := b.pause, b.pause.gone+r.turns.aheadRamp[i]
		if t := p.turn(r.now, r.pace(cost), k); t > r.now {
			lacks |= lacksBudget << i
			at, paused = max(at, t), true
			alone = max(alone, p.turn(r.now, r.pace(cost), k-r.turns.othersRamp[i]))
		}
	}
	for i, m := range r.meters {
		if cost[i] == 0 || m.free(lane, r.now) >= r.turns.ahead[i]+cost[i] {
			continue
		}
		lacks |= 1 << i
		at = max(at, m.firstRoom(lane, r.now, r.turns.ahead[i], cost[i]))
		alone = max(alone, m.firstRoom(lane, r.now, r.turns.ahead[i]-r.turns.others[i], cost[i]))
	}
	return lacks, at, alone, paused
}

// heldBack checks a call that was denied, or told to wait: it really lacked
// room, and the instant it was told is that of its turn.
func (r *referee) heldBack(run *run, o outcome, cost []int64) {
	lacks, at, alone, paused := r.lacking(run.lane, cost)
	r.must(lacks != 0, "2, never refused while there is room",
		"a call of %v in lane %d was told %v while there is room for it; ahead of it are %v", cost, run.lane, o, r.turns.ahead)
	r.must(o.limit == 0 || lacks&(1<<o.limit) != 0, "2, never refused while there is room",
		"a call of %v in lane %d was told to lack limit %d, and lacks %b", cost, run.lane, o.limit, lacks)
	slack := 0.0
	if paused {
		slack = 1 // the ramp is worked out with a root
	}
	turn := float64(max(1, at-r.now))
	if o.code == deniedRoom || o.code == deniedPause {
		r.must(within1(o.wait, turn, slack), "4, waits are honest", "a call of %v in lane %d was told to come back in %v us, its turn is in %v", cost, run.lane, o.wait, turn)
		r.must(turn+slack > run.patience, "4, waits are honest", "a call of %v in lane %d was denied: its turn is in %v us, and it would wait %v", cost, run.lane, turn, run.patience)
		return
	}
	r.must(o.code == waitsRoom || o.code == waitsPause, "2", "a call that lacks %b was told %v", lacks, o)
	r.must(turn-slack <= run.patience, "4, waits are honest", "a call of %v in lane %d was told to wait: its turn is in %v us, and it would wait %v only", cost, run.lane, turn, run.patience)
	r.must(o.lacks == lacks, "2", "a call of %v in lane %d was told to lack %b, and lacks %b", cost, run.lane, o.lacks, lacks)
	// Where others go first it asks again once they may turn out to be dead.
	named := float64(max(1, min(at, max(alone, r.turns.void))-r.now))
	r.must(within1(o.wait, named, slack), "4, waits are honest", "a call of %v in lane %d was told to ask again in %v us, not in %v (turn %v)", cost, run.lane, o.wait, named, turn)
	r.waits(run, o, cost, lacks)
}

func within1(a, b, slack float64) bool { return a >= b-slack && a <= b+slack }

// modelDenied checks a call of a model that is denied.
func (r *referee) modelDenied(run *run, o outcome) bool {
	left := r.books[0].denied[r.c.models[run.model]] - r.now
	r.must((left > 0) == (o.code == deniedModel), "models", "a call was told %v, the model is denied for %d us", o, left)
	r.must(left <= 0 || o.wait == float64(left), "models", "a call was told to come back in %v us, the model is denied for %d", o.wait, left)
	return left > 0
}

// leased checks what was leased: room that really was there, within a lane's
// ceiling, while nobody of it or a higher one waits.
func (r *referee) leased(n float64, charged []int64) {
	l := r.c.lease
	if n == 0 {
		return
	}
	r.must(l != nil && n <= l.n && n >= 1, "11, leases", "%v calls were leased to %+v", n, l)
	r.must(!r.somebodyWaits(l.lane), "11, leases", "%v calls of lane %d were leased while a call of it or a higher lane waits", n, l.lane)
	for i, b := range r.books {
		r.must(b.pause.until <= r.now && !b.pause.ramping(r.now), "11, leases", "%v calls were leased during pause %d or its ramp", n, i)
	}
	cost := whole64s(l.cost)
	for i, m := range r.meters {
		need := int64(n) * cost[i]
		r.must(need == 0 || float64(need)*l.divisor <= float64(m.free(l.lane, r.now)), "11, leases",
			"%v calls of %d units were leased, at most 1/%v of the room, limit %d (%v) had %d left", n, cost[i], l.divisor, i, m.Limit, m.free(l.lane, r.now))
	}
	r.take(cost, int64(n), charged)
}
