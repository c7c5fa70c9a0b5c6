package throttle

import (
	"cmp"
	"math"
)

// decide.go, state.go and slots.go are the pure core: what a claim does to
// the records it is about, given the store's time. The script does the same in
// Redis, function by function; the differential test holds them together.

// A bench is a claim on the records it touches.
type bench struct {
	c       *claim
	now     float64
	budget  *record
	account *record
	keys    []*keyRecord
	notices []notice // to be pushed to every process

	counts    []*counter // by limit
	ahead     []float64  // by limit: what waiting calls need that are ahead
	aheadRamp [2]float64 // calls ahead that wait for the budget's, the account's pause
	line                 // of those ahead, what belongs to other processes
	charged   []float64  // by limit: what the claim's calls were charged
	changed   bool       // the claim charged or corrected something
	dirty     [2]bool    // it changed the budget's record, the account's
	freed     [2]bool    // it gave room back in the budget, in the account

	tenants []tenantBench // by claim.tenants
	tenant  int           // whose counters stand behind the shared ones; 0: nobody's
}

// decide applies the claim and returns the answer. A dry claim's records are
// copies that the caller throws away. The error is that of a claim which has
// come before.
func decide(b *bench) (answer, error) {
	if a, err := b.replay(); a != nil || err != nil {
		return *cmp.Or(a, &answer{}), err
	}
	if b.forgot() {
		return answer{}, errForgot
	}
	b.advance()
	b.remember()
	b.state()
	b.fix()
	for _, s := range b.c.settles {
		b.settle(s)
	}
	b.raise()
	if b.c.verdict != nil {
		b.apply(*b.c.verdict)
	}
	b.lineUp()
	a := answer{now: b.now}
	for i := range b.c.runs {
		a.outcomes = append(a.outcomes, b.judge(&b.c.runs[i]))
	}
	a.leased = b.grantLease()
	b.seat()
	b.dirty[0] = b.dirty[0] || b.keeps()
	b.begin()
	b.view(&a)
	b.announce()
	b.keep(&a)
	return a, nil
}

// raise brings counts up to what the vendor says is used.
func (b *bench) raise() {
	for i, least := range b.c.floors {
		s, c := &b.c.limits[i], b.counts[i]
		if more := least - c.used(s, b.now); more > 0 && !s.inFlight() {
			c.take(s, b.now, more)
			b.changed = true
			b.dirtyRecord(b.recordOf(i))
		}
	}
}

// view says how everything stands after the claim.
func (b *bench) view(a *answer) {
	a.budget, a.account = b.budget.view(b.now), b.account.view(b.now)
	for _, k := range b.keys {
		a.keys = append(a.keys, k.view(b.now))
	}
	for i, c := range b.counts[:b.c.shared()] {
		s := &b.c.limits[i]
		a.used = append(a.used, c.used(s, b.now))
		if !b.c.dry {
			continue
		}
		rooms := make([]float64, len(s.ceilings))
		for lane := range rooms {
			rooms[lane] = c.fit(s, lane, b.now, 0, 1)
		}
		a.lanes = append(a.lanes, rooms)
	}
	if b.c.dry {
		a.tenants = b.tenantsUsed()
	}
	for i, rec := range b.records() {
		if rec.epoch != b.c.knows[i] {
			a.epochs[i] = rec.epoch
		}
	}
}

func (b *bench) advance() {
	b.ahead = make([]float64, len(b.c.limits))
	b.others = make([]float64, len(b.c.limits))
	b.charged = make([]float64, len(b.c.limits))
	for i := range b.c.limits[:b.c.shared()] {
		// A record's counters may move while it grows, so take them after.
		b.recordOf(i).counterOf(&b.c.limits[i])
	}
	for i := range b.c.limits[:b.c.shared()] {
		s := &b.c.limits[i]
		c := b.recordOf(i).counterOf(s)
		c.advance(s, b.now)
		b.counts = append(b.counts, c)
	}
	if b.c.perTenant > 0 {
		b.advanceTenants()
	}
}

func (b *bench) dirtyRecord(rec *record) {
	for i, r := range b.records() {
		b.dirty[i] = b.dirty[i] || r == rec
	}
}

// recordOf is the record of a limit's counter; nil: that of no tenant.
func (b *bench) recordOf(limit int) *record {
	switch {
	case limit < b.c.own:
		return b.budget
	case limit < b.c.shared():
		return b.account
	case b.tenant == 0:
		return nil
	}
	return b.tenants[b.tenant-1].rec
}

// judge decides a run: how many go, then for each of the others whether it
// waits. A denied call is skipped; a waiting one holds back those behind it on
// the limits that it lacks.
func (b *bench) judge(r *run) []outcome {
	b.use(r.tenant)
	if r.hold {
		b.stand(r)
		return nil
	}
	if k := b.keys[r.key]; k.refused {
		return b.judgeRefused(r, k)
	}
	b.letAhead(r)
	var out []outcome
	left := r.n
	if until := b.budget.denied[b.c.models[r.model]]; until > b.now {
		return append(out, outcome{code: deniedModel, n: left, wait: until - b.now})
	}
	rate := b.rate(r)
	for left > 0 {
		if n := b.fit(r, rate, float64(left)); n > 0 {
			b.take(r, n)
			b.goes(r)
			left -= int(n)
			out = append(out, outcome{code: granted, n: int(n)})
			continue
		}
		o, again := b.turn(r, rate)
		if o.wait > r.patience {
			// Nothing that it leaves behind changes the next one's chances.
			o.code, o.n = o.code+(deniedRoom-waitsRoom), left
			return append(out, o)
		}
		o.wait = again
		b.hold(r, o.lacks)
		b.wait(r, o)
		out = append(out, o)
		left--
	}
	return out
}

// judgeRefused decides a run whose key is refused: at most its first call goes,
// as the probe.
func (b *bench) judgeRefused(r *run, k *keyRecord) []outcome {
	var out []outcome
	left := r.n
	if b.startProbe(r, k) {
		out = append(out, outcome{code: grantedKey, n: 1})
		left--
	}
	if left > 0 {
		// A probe that is due still waits for the end of a pause.
		at := max(b.now, k.next, b.budget.until, b.account.until)
		out = append(out, outcome{code: deniedKey, n: left, wait: at - b.now})
	}
	return out
}

// rate is how many calls like the run's the limits that aren't each tenant's own
// let through in a microsecond; 0: they have no limit.
func (b *bench) rate(r *run) float64 {
	rate := math.Inf(1)
	for i := range b.c.limits[:b.c.shared()] {
		if s := &b.c.limits[i]; r.cost[i] > 0 && !s.inFlight() {
			cost := r.cost[i]
			rate = min(rate, s.amount/float64(cost*s.per))
		}
	}
	if math.IsInf(rate, 1) {
		return 0
	}
	return rate
}

// fit is how many of n calls of the run go now.
func (b *bench) fit(r *run, rate, n float64) float64 {
	for i, rec := range b.records() {
		n = min(n, rec.fit(b.now, rate, b.aheadRamp[i]))
	}
	for i, c := range b.counts {
		if cost := r.cost[i]; cost > 0 && n > 0 {
			n = min(n, c.fit(&b.c.limits[i], r.lane, b.now, b.ahead[i], cost))
		}
	}
	return n
}

// records are those that a pause can close, in the order of lackSet's bits.
func (b *bench) records() [2]*record { return [2]*record{b.budget, b.account} }

// take charges n calls of the run to every limit and ramp.
func (b *bench) take(r *run, n float64) {
	for i, c := range b.counts {
		if cost := r.cost[i]; cost > 0 {
			if s := &b.c.limits[i]; s.inFlight() {
				heldTake(c, b.c.process, n, b.now)
			} else {
				c.take(s, b.now, float64(n*cost))
			}
			b.charged[i] += float64(n * cost)
			b.changed = true
			b.dirtyRecord(b.recordOf(i))
		}
	}
	for _, rec := range b.records() {
		if rec.ramping(b.now) {
			rec.used += n
			b.dirtyRecord(rec)
		}
	}
}

// turn says what the next call of the run lacks and when it will be its turn:
// the latest of the limits and pauses that it lacks. It returns also in how
// many microseconds to ask again: earlier, where somebody ahead in another
// process may have gone sooner than was foreseen, or turn out to be dead.
func (b *bench) turn(r *run, rate float64) (o outcome, again float64) {
	o = outcome{code: waitsRoom, n: 1}
	at, alone := b.now, b.now
	for i, rec := range b.records() {
		t := rec.turnAt(b.now, rate, b.aheadRamp[i])
		if t <= b.now {
			continue
		}
		alone = max(alone, rec.turnAt(b.now, rate, b.aheadRamp[i]-b.othersRamp[i]))
		o.lacks |= lacksBudget << i
		if t > at {
			at, o.code = t, waitsPause
		}
	}
	for i, c := range b.counts {
		s, cost := &b.c.limits[i], r.cost[i]
		if cost <= 0 || c.fit(s, r.lane, b.now, b.ahead[i], cost) >= 1 {
			continue
		}
		o.lacks |= 1 << i
		t := b.now + maxWait // what is larger than its ceiling never fits
		switch {
		case s.inFlight():
			t = lateFor(c, r, b.now)
			alone = max(alone, t)
		case cost <= s.most(r.lane):
			t = c.roomAt(s, r.lane, b.now, b.ahead[i], cost)
			alone = max(alone, c.roomAt(s, r.lane, b.now, b.ahead[i]-b.others[i], cost))
		}
		if t > at {
			at, o.code, o.limit = t, waitsRoom, i
		}
	}
	o.wait = max(1, at-b.now)
	return o, max(1, min(at, max(alone, b.again))-b.now)
}

// hold counts what a waiting call of the run lacks as use by those ahead.
func (b *bench) hold(r *run, lacks lackSet) {
	for i := range b.counts {
		if lacks&(1<<i) != 0 {
			b.ahead[i] += r.cost[i]
		}
	}
	for i := range b.aheadRamp {
		if lacks&(lacksBudget<<i) != 0 {
			b.aheadRamp[i]++
		}
	}
}

// announce tells every process of room that was given back where somebody else
// waits for it.
func (b *bench) announce() {
	for i := range b.ticketed() {
		rec := b.recordAt(i)
		if freed := i < 2 && b.freed[i] || i >= 2 && b.tenants[i-2].freed; !freed || !rec.awaited(b.c.process) {
			continue
		}
		rec.call(b.c.process, b.now)
		n := notice{kind: noticeRoom, account: b.c.account}
		if i != 1 {
			n.budget = b.c.budget
		}
		if i >= 2 {
			n.key = Fingerprint(b.tenants[i-2].name)
		}
		b.notices = append(b.notices, n)
	}
}

// stand counts what calls lack that were judged before.
func (b *bench) stand(r *run) {
	for i := range b.ahead {
		b.ahead[i] += r.cost[i]
	}
	for i := range b.aheadRamp {
		b.aheadRamp[i] += r.pauses[i]
	}
}
