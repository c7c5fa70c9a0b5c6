package throttle

import (
	"context"
	"errors"
	"time"
)

// outage_return.go is the time between an outage and business as usual. The
// store takes writes again, but some of the fleet haven't found that out, and
// what they have spent isn't booked there: to who came back first its budgets
// would look empty. So each process books what it has spent at once, and goes on
// with its own part of every limit for as long as the others may need.

const (
	// returnWait is the longest that a process which retries may need to find
	// that the store is back: the longest interval with its jitter.
	returnWait = 1500 * time.Millisecond
	// bookEvery is how often at most what is spent here meanwhile is booked.
	bookEvery = 100 * time.Millisecond
)

// returnFor is how long a part of the store that was away for so long is only
// told. Nobody who has found the outage tries less often than after half of the
// time that it has lasted by then, and who shares with nobody need not wait.
func (o *outage) returnFor(lasted time.Duration) time.Duration {
	if _, live := o.fleet(); live <= 1 {
		return 0
	}
	return min(lasted, returnWait)
}

// returning reports whether the account's part of the store is there, but is
// only told.
func (o *outage) returning(account string) bool {
	if !o.lasts.Load() || o.t.closed.Load() {
		return false
	}
	shard := o.t.store.shard(account)
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.returningLocked("") || o.returningLocked(shard)
}

func (o *outage) returningLocked(shard string) bool {
	a := o.absences[shard]
	return a != nil && a.returns
}

// back waits until the others have had their time, and ends that unless the next
// outage has begun. It is called by the one that has found the store.
func (o *outage) back(a *absence, wait time.Duration, nth int) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-o.t.done.Done():
		return
	case <-timer.C:
	}
	o.mu.Lock()
	if a.nth != nth {
		o.mu.Unlock()
		return
	}
	a.returns = false
	o.noteLocked()
	o.mu.Unlock()
	o.turnToStore()
}

// noteLocked notes whether anything is out of the ordinary, for those who only
// want to know that.
func (o *outage) noteLocked() {
	lasts := false
	for _, a := range o.absences {
		lasts = lasts || a.returns || !a.since.IsZero()
	}
	o.lasts.Store(lasts)
}

// turnToStore has all queues whose part is there claim: for those who wait, and
// to tell what they have to tell.
func (o *outage) turnToStore() {
	now := time.Now()
	for _, q := range o.t.allQueues() {
		if o.down(q.a.id) {
			continue
		}
		q.mu.Lock()
		q.due, q.pushed = true, true
		q.recheckAllLocked()
		q.errand = q.errand || q.seated // its callers may have been answered here
		q.tellLocked(now)               // it may have lost its memory meanwhile
		q.kick()
	}
}

// hint has those parts that are out of reach tried at once: another process has
// just written there.
func (o *outage) hint() {
	if !o.lasts.Load() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range o.absences {
		if !a.since.IsZero() {
			select {
			case a.hints <- struct{}{}:
			default:
			}
		}
	}
}

// claim brings a batch to the store, with what is known here if that has lost
// it.
func (t *Throttle) claim(q *queue, b *batch) (answer, error) {
	ans, err := t.store.claim(context.Background(), &b.claim)
	if errors.Is(err, errForgot) {
		b.claim.restore = q.restoration()
		q.older(b)
		ans, err = t.store.claim(context.Background(), &b.claim)
	}
	return ans, err
}

// allLocal reports whether nobody's call of a batch is decided otherwise than by
// this process's own part: others have nothing to wait for.
func (o *outage) allLocal(q *queue, b *batch) bool {
	for _, r := range b.claim.runs {
		if o.mode(q, r.lane) != OutageLocal {
			return false
		}
	}
	return true
}

// A word is what the store was only told, and its answer.
type word struct {
	batch
	said answer
}

// decideReturning answers a batch here, and has the store told what it carries.
func (t *Throttle) decideReturning(q *queue, b *batch) answer {
	ans := t.outage.decide(q, b)
	news := len(b.claim.settles)+len(b.claim.fixes) > 0 || b.claim.floors != nil
	if now := time.Now(); !news || now.Sub(q.toldAt) < bookEvery {
		ans.unknown = &fix{settles: b.claim.settles, tenants: b.claim.unspent()}
		return ans
	}
	q.toldAt = time.Now()
	w := &word{batch: batch{claim: b.claim, began: b.began}}
	w.claim.runs, w.claim.lease, w.claim.probe, w.claim.arrived = nil, nil, "", time.Time{}
	said, err := t.claim(q, &w.batch)
	if err != nil {
		t.outage.failed(q.a.id, err)
		ans.unknown = &fix{number: b.claim.number, settles: b.claim.settles, tenants: b.claim.unspent()}
		return ans
	}
	w.said = said
	t.outage.mirror(q, &w.batch, &w.said)
	ans.word = w
	return ans
}

// stillInUse lowers what fixes say was spent to what is still in use of it, what
// was spent first before what came later: an outage may outlast many windows, and
// all of it is booked as of now. What this process's own counts have forgotten by
// now, the store would have, too. It returns the limits of which anything was
// lowered: what is given back of them later was perhaps never booked.
func (o *outage) stillInUse(q *queue, fixes []fix) (lowered lackSet) {
	if len(fixes) == 0 || o.whole {
		return 0
	}
	c := claim{account: q.a.id, budget: q.id, limits: o.part(q), own: q.own, perTenant: len(q.all) - len(q.limits)}
	spent := make([][]float64, 0, len(fixes))
	tenants := map[string][][]float64{}
	for i := range fixes {
		spent = append(spent, fixes[i].spent)
		for _, t := range fixes[i].tenants {
			c.addTenant(t.name)
			tenants[t.name] = append(tenants[t.name], t.units)
		}
	}
	shared, own := o.local.lately(&c)
	lowered = lowerTo(shared, spent, q.limits)
	for i, used := range own {
		lowered |= lowerTo(used, tenants[c.tenants[i].name], q.all[len(q.limits):]) << len(q.limits)
	}
	return lowered
}

// lowerTo lowers spendings, the first of them first, so that together they are
// no more than what is in use. Calls that are in flight are not spent.
func lowerTo(used []float64, spent [][]float64, limits []spec) (lowered lackSet) {
	for i := range used {
		if limits[i].inFlight() {
			continue
		}
		excess := -used[i]
		for _, units := range spent {
			excess += units[i]
		}
		for _, units := range spent {
			if less := min(excess, units[i]); less > 0 {
				units[i], excess = units[i]-less, excess-less
				lowered |= 1 << i
			}
		}
	}
	return lowered
}
