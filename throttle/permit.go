package throttle

import (
	"slices"
	"sync"
)

// A Permit is leave to send one call. It is a small value, to be passed and
// copied freely, and safe for concurrent use.
//
// A permit ends with the first of Done, Settle and Cancel. Later calls, and
// those of the zero Permit, do nothing. Answered may come before the end, and
// none of them is bound to the context of Acquire.
type Permit struct {
	s   *permitState
	gen uint64
}

// permitState is what a permit stands for. States are used again: gen tells a
// late call that its permit has ended, so that it can't end somebody else's.
type permitState struct {
	mu  sync.Mutex
	gen uint64
	permitInfo
}

type permitInfo struct {
	q     *queue
	key   Fingerprint
	model string
	id    modelID
	cost  Cost
	// tenant is whose own limits count, too; "": nobody's
	tenant string
	at     float64 // the store's time of the charge
	keyAt  float64 // the key's generation then
	probe  string  // the uuid of the probe that the call is; "": none
	local  bool    // charged to this process alone, while the store was away
	round  int     // of bookings that tells the store, if local
	lease  *chunk  // it was spent from; nil: none
	gate   *gate   // it has passed; nil: none
	// uncounted marks a call that goes in a dry run only: nothing was charged, and
	// nothing is held.
	uncounted bool
}

var permitStates = sync.Pool{New: func() any { return new(permitState) }}

func newPermit(info permitInfo) Permit {
	s := permitStates.Get().(*permitState)
	s.permitInfo = info // no permit that has ended looks at it
	return Permit{s, s.gen}
}

// look returns what the permit stands for, and whether it hasn't ended.
func (p Permit) look() (info permitInfo, ok bool) {
	if p.s == nil {
		return permitInfo{}, false
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	if p.s.gen != p.gen {
		return permitInfo{}, false
	}
	return p.s.permitInfo, true
}

// end ends the permit for whoever comes first.
func (p Permit) end() (info permitInfo, ok bool) {
	if p.s == nil {
		return permitInfo{}, false
	}
	p.s.mu.Lock()
	if p.s.gen != p.gen {
		p.s.mu.Unlock()
		return permitInfo{}, false
	}
	p.s.gen++
	p.s.mu.Unlock()
	info = p.s.permitInfo
	p.s.permitInfo = permitInfo{}
	permitStates.Put(p.s)
	return info, true
}

// Probe reports whether the call is the probe of a refused key: its answer
// alone decides whether the key is open again.
func (p Permit) Probe() bool {
	info, ok := p.look()
	return ok && info.probe != ""
}

// DryRun reports whether the call goes only because of a dry run: enforcement
// would have denied or delayed it. Nothing is charged for it, whatever it costs.
func (p Permit) DryRun() bool {
	info, ok := p.look()
	return ok && info.uncounted
}

// Answered says what the vendor's answer meant. Pauses and refusals hold in
// this process when it returns, and have been written to the store or kept for
// when that is back. It may be called again where the answer's body says more
// than its header did, but not after the permit has ended.
func (p Permit) Answered(v Verdict) {
	if info, ok := p.look(); ok {
		info.q.answered(info, v)
	}
}

// Settle ends the permit and corrects the estimate: a smaller cost is given
// back to the window that was charged, a greater one is added. See Cost for
// what its zero and negative fields mean.
func (p Permit) Settle(actual Cost) {
	info, ok := p.end()
	if !ok || info.uncounted {
		return
	}
	q := info.q
	charged, stands := info.cost, info.cost.settledOver(actual)
	if q.sells {
		charged, stands = charged.priced(q.price), charged.settledPriced(actual, q.price)
	}
	var buf [fewLimits]float64
	if delta, differs := q.differenceIn(buf[:0], &stands, &charged, info.tenant); differs {
		info.correct(delta, 0)
	}
	info.over(true)
}

// differenceIn appends how much more of each limit a cost takes than another.
func (q *queue) differenceIn(delta []float64, now, was *Cost, tenant string) (_ []float64, differs bool) {
	for i := range q.all {
		d := 0.0
		if s := &q.all[i]; !s.inFlight() && (tenant != "" || i < len(q.limits)) {
			d = now.units(s.unit) - was.units(s.unit)
		}
		differs = differs || d != 0
		delta = append(delta, d)
	}
	return delta, differs
}

// Done ends the permit and keeps the estimate.
func (p Permit) Done() {
	if info, ok := p.end(); ok && !info.uncounted {
		info.over(true)
	}
}

// Cancel ends the permit of a call that was never sent: no byte of it reached
// the vendor. Everything is given back.
func (p Permit) Cancel() {
	if info, ok := p.end(); ok && !info.uncounted {
		var was [fewLimits]float64
		delta := info.q.needsIn(was[:0], info.cost, info.tenant)
		for i := range delta {
			delta[i] = -delta[i]
		}
		info.correct(delta, 1)
		info.over(false)
	}
}

// over tells that the call doesn't run any more, where that counts.
func (info permitInfo) over(sent bool) {
	info.gate.leave(sent)
	if info.q.counts {
		info.q.mu.Lock()
		info.q.runLocked(-1)
		info.q.kick()
	}
}

// correct changes what was charged by delta, by limit, and gives calls back.
// The slice is not kept.
func (info permitInfo) correct(delta []float64, calls float64) {
	if info.lease != nil && info.lease.correct(delta, calls) {
		return // it can be spent again
	}
	s := settlement{at: info.at, calls: calls, delta: slices.Clone(delta), tenant: info.tenant}
	info.q.mu.Lock()
	info.q.addLocked(s, info.local, info.round)
	info.q.kick()
}
