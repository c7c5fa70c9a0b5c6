package throttle

// fixes.go keeps what the store has to be told of the time when it gave no
// answer: which claims were sent in vain, and what was spent meanwhile.

// maxFixes bounds the claims in vain that are told apart. Beyond it the oldest
// are booked together, as if they had never arrived: too much rather than too
// little.
const maxFixes = 16

// maxRounds is for how many outages the time is remembered at which their
// spending was booked, to settle calls that outlive them.
const maxRounds = 64

// A ledger is what a queue has to tell the store. It is guarded by q.mu.
type ledger struct {
	fixes  []fix
	told   bool        // the claim under way tells them
	late   [][]float64 // corrections that came while it was under way
	booked []float64   // the store's time of the last rounds of booking
	rounds int         // how many there have been
}

// tell returns what the next claim tells, to be followed by fared.
func (l *ledger) tell() []fix {
	l.told = len(l.fixes) > 0
	fixes := make([]fix, len(l.fixes))
	for i, f := range l.fixes {
		f.spent = append([]float64(nil), f.spent...)
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
		for _, delta := range late {
			l.spend(delta, limits)
		}
		return nil
	}
	if !told || ans.local {
		return nil
	}
	l.fixes = nil
	l.rounds++
	if l.booked = append(l.booked, ans.now); len(l.booked) > maxRounds {
		l.booked = l.booked[1:]
	}
	follow := make([]settlement, len(late))
	for i, delta := range late {
		follow[i] = settlement{at: ans.now, delta: delta}
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
	if l.fixes = append(l.fixes, f); len(l.fixes) > maxFixes {
		oldest, next := l.fixes[0], &l.fixes[1]
		for i, spent := range oldest.spent {
			next.spent[i] += spent
		}
		next.settles = append(oldest.settles, next.settles...)
		next.number = 0 // neither is told apart any more
		l.fixes = l.fixes[1:]
	}
}

// spend notes what was spent, or given back, while the store was away.
func (l *ledger) spend(units []float64, limits int) {
	if l.told {
		l.late = append(l.late, units)
		return
	}
	if len(l.fixes) == 0 {
		l.add(fix{}, limits)
	}
	last := &l.fixes[len(l.fixes)-1]
	for i, n := range units {
		last.spent[i] += n
	}
}

// bookedAt returns when the spending of a round was booked: whether it was yet,
// and whether that is still remembered.
func (l *ledger) bookedAt(round int) (at float64, was, known bool) {
	if round >= l.rounds {
		return 0, false, true
	}
	if i := round - (l.rounds - len(l.booked)); i >= 0 {
		return l.booked[i], true, true
	}
	return 0, true, false
}
