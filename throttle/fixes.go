package throttle

import "slices"

// fixes.go keeps what the store has to be told of the time when it gave no
// answer: which claims were sent in vain, and what was spent meanwhile.

// maxFixes bounds the claims in vain that are told apart. Beyond it the oldest
// are booked together, as if they had never arrived: too much rather than too
// little.
const maxFixes = 16

// maxRounds is for how many outages the time is remembered at which their
// spending was booked, to settle calls that outlive them.
const maxRounds = 64

// A booking is when the store was told what was spent without it, and of which
// limits it was told less: see stillInUse.
type booking struct {
	at      float64
	lowered lackSet
}

// A ledger is what a queue has to tell the store. It is guarded by q.mu.
type ledger struct {
	fixes  []fix
	told   bool          // the claim under way tells them
	late   []tenantSpent // corrections that came while it was under way, and whose
	lowers lackSet       // limits of which that one tells less than was spent
	booked []booking     // the last rounds of booking
	rounds int           // how many there have been
}

// tell returns what the next claim tells, to be followed by fared.
func (l *ledger) tell() []fix {
	l.told = len(l.fixes) > 0
	fixes := make([]fix, len(l.fixes))
	for i, f := range l.fixes {
		f.spent = append([]float64(nil), f.spent...)
		f.tenants = cloneSpent(f.tenants)
		fixes[i] = f
	}
	return fixes
}

// fared takes note of how a claim fared. One without an answer becomes a fix
// itself, behind those that it told. It returns settlements that are to follow.
func (l *ledger) fared(ans *answer, limits int) []settlement {
	late := l.late
	told := l.told
	l.late, l.told = nil, false
	if u := ans.unknown; u != nil {
		if u.number > 0 || len(u.settles) > 0 {
			l.add(*u, limits)
		}
		for _, s := range late {
			l.spend(s.name, s.units, limits)
		}
		return nil
	}
	at := ans.now
	if ans.word != nil {
		at = ans.word.said.now
	}
	if !told || ans.local && ans.word == nil {
		return nil
	}
	l.fixes = nil
	l.rounds++
	if l.booked = append(l.booked, booking{at, l.lowers}); len(l.booked) > maxRounds {
		l.booked = l.booked[1:]
	}
	follow := make([]settlement, len(late))
	for i, s := range late {
		follow[i] = booking{at, l.lowers}.correct(settlement{delta: s.units, tenant: s.name})
	}
	return follow
}

// add appends a fix without spending. What travelled with no claim at all joins
// the last fix of its kind: nothing was sent between the two.
func (l *ledger) add(f fix, limits int) {
	f.spent = make([]float64, limits)
	if n := len(l.fixes); n > 0 && f.number == 0 && l.fixes[n-1].number == 0 {
		l.fixes[n-1].settles = append(l.fixes[n-1].settles, f.settles...)
		return
	}
	if l.tenants()+len(f.tenants) > maxFixedTenants {
		f.tenants = nil
	}
	if l.fixes = append(l.fixes, f); len(l.fixes) > maxFixes {
		oldest, next := l.fixes[0], &l.fixes[1]
		for i, spent := range oldest.spent {
			next.spent[i] += spent
		}
		for _, t := range oldest.tenants {
			next.spendOf(t.name, t.units)
		}
		next.settles = append(oldest.settles, next.settles...)
		next.number = 0 // neither is told apart any more
		l.fixes = l.fixes[1:]
	}
}

// spend notes what was spent, or given back, while the store was away: of the
// limits of all, then of a tenant's own.
func (l *ledger) spend(tenant string, units []float64, limits int) {
	if l.told {
		l.late = append(l.late, tenantSpent{tenant, units})
		return
	}
	if len(l.fixes) == 0 {
		l.add(fix{}, limits)
	}
	last := &l.fixes[len(l.fixes)-1]
	for i, n := range units[:limits] {
		last.spent[i] += n
	}
	if tenant != "" && (unitsOf(last.tenants, tenant) != nil || l.tenants() < maxFixedTenants) {
		last.spendOf(tenant, units[limits:])
	}
}

// maxFixedTenants bounds the tenants that are told of after an outage. What
// further ones spent meanwhile is booked to the limits of all alone.
const maxFixedTenants = 1024

// tenants is how many are told of.
func (l *ledger) tenants() (n int) {
	for i := range l.fixes {
		n += len(l.fixes[i].tenants)
	}
	return n
}

// spendOf adds what was spent of a tenant's own limits.
func (f *fix) spendOf(tenant string, units []float64) {
	known := unitsOf(f.tenants, tenant)
	if known == nil {
		f.tenants = append(f.tenants, tenantSpent{tenant, append([]float64{}, units...)})
		return
	}
	for i, n := range units {
		known[i] += n
	}
}

func cloneSpent(tenants []tenantSpent) (all []tenantSpent) {
	for _, t := range tenants {
		all = append(all, tenantSpent{t.name, append([]float64{}, t.units...)})
	}
	return all
}

// unspent are the claim's tenants, of which nothing is known to be spent: what it
// charged to them may have to be corrected.
func (c *claim) unspent() (tenants []tenantSpent) {
	for i := range c.tenants {
		tenants = append(tenants, tenantSpent{c.tenants[i].name, make([]float64, c.perTenant)})
	}
	return tenants
}

// spendLocked notes what was spent while the store was away.
func (q *queue) spendLocked(tenant string, units []float64) {
	if len(q.all) == len(q.limits) {
		tenant = ""
	}
	q.ledger.spend(tenant, units, len(q.limits))
}

// bookedAt returns how the spending of a round was booked: whether it was yet,
// and whether that is still remembered.
func (l *ledger) bookedAt(round int) (how booking, was, known bool) {
	if round >= l.rounds {
		return booking{}, false, true
	}
	if i := round - (l.rounds - len(l.booked)); i >= 0 {
		return l.booked[i], true, true
	}
	return booking{}, true, false
}

// correct is a correction of what was booked so: nothing is given back that was
// perhaps never charged.
func (b booking) correct(s settlement) settlement {
	delta := slices.Clone(s.delta)
	for i := range delta {
		if delta[i] < 0 && b.lowered&(1<<i) != 0 {
			delta[i] = 0
		}
	}
	return settlement{at: b.at, delta: delta, tenant: s.tenant}
}
