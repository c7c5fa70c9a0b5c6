package throttle

import (
	"context"
	"time"
)

// spendAtOnce is Acquire for a call that a lease covers: one clock read, one
// lock, nothing allocated. Whatever it can't decide it leaves as it was, for
// the way that every other call goes.
func (t *Throttle) spendAtOnce(ctx context.Context, call *Call) (Permit, bool) {
	if t.cfg.Lease.Off() || t.cfg.Probe.Send != nil || t.closed.Load() {
		return Permit{}, false
	}
	lane, err := t.laneOf(ctx, call)
	if field, _ := call.Cost.negative(); err != nil || field != "" {
		return Permit{}, false
	}
	q, id := t.queueFor(call)
	if q.leases == nil || q.gate != nil || q.turns != nil || q.denies.Load() || !t.store.hears() {
		return Permit{}, false
	}
	cost := call.Cost
	if cost.Requests == 0 {
		cost.Requests = 1
	}
	var buf [fewLimits]float64
	c, gen, low := q.leases.spend(lane, call.Key, q.needsIn(buf[:0], cost, ""))
	if c == nil {
		return Permit{}, false
	}
	if low {
		q.claimAhead()
	}
	if t.cfg.Observe != nil {
		t.observe(Event{
			Kind: EventAdmitted, Key: call.Key, Account: call.Account, Model: call.Model,
			Budget: q.name, Lane: t.cfg.Lanes[lane].Name,
		})
	}
	return newPermit(permitInfo{
		q: q, key: call.Key, model: call.Model, id: id, cost: cost, at: c.at, keyAt: gen, lease: c,
	}), true
}

// spend is take for a call that has no ask. Where there is no chunk for it,
// nothing has changed. The slice is not kept.
func (l *leases) spend(lane int, key Fingerprint, need []float64) (c *chunk, gen float64, low bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now() // under the lock: an older instant must not follow a newer one
	if c, gen = l.spendLocked(lane, key, need, now); c == nil {
		return nil, 0, false
	}
	l.lanes[lane].demand.Note(now, need)
	return c, gen, l.lowLocked(c, lane, now)
}
