package throttle

import "slices"

// What claims charge and correct.

// fixes makes good what claims of unknown fate did. A claim that was applied
// brought all that was told before it; the later ones never came. It reports
// whether anything was charged.
func (r *referee) fixes() (changed bool) {
	first := 0
	for i, f := range r.c.fixes {
		if c := r.books[0].applied[r.c.process][f.number]; c != nil && f.number > 0 {
			first = i + 1
			spent := whole64s(f.spent)
			if i+1 < len(r.c.fixes) && r.laterApplied(i+1) {
				continue // and was made good by that one
			}
			for j := range spent {
				spent[j] -= c.charged[j]
			}
			changed = r.correct(c.at, spent) || changed
		}
	}
	for _, f := range r.c.fixes[first:] {
		changed = r.correct(r.now, whole64s(f.spent)) || changed
		for _, s := range f.settles {
			changed = r.settle(s) || changed
		}
	}
	return changed
}

func (r *referee) laterApplied(from int) bool {
	return slices.ContainsFunc(r.c.fixes[from:], func(f fix) bool {
		return f.number > 0 && r.books[0].applied[r.c.process][f.number] != nil
	})
}

func (r *referee) settle(s settlement) bool {
	at := whole64(s.at)
	changed := r.correct(at, whole64s(s.delta))
	for _, b := range r.books {
		if p := &b.pause; s.calls > 0 && p.ramping(r.now) && at >= p.until {
			p.gone = max(0, p.gone-whole64(s.calls))
		}
	}
	return changed
}

func (r *referee) correct(at int64, delta []int64) (changed bool) {
	r.ledger.charge(r.c.process, at, delta)
	for i, d := range delta {
		if d != 0 {
			r.meters[i].settle(r.now, at, d)
			changed = true
		}
	}
	return changed
}

func (r *referee) take(cost []int64, n int64, charged []int64) {
	all := make([]int64, len(cost))
	for i, c := range cost {
		if all[i] = n * c; all[i] > 0 {
			r.meters[i].take(r.now, all[i])
			charged[i] += all[i]
		}
	}
	r.ledger.charge(r.c.process, r.now, all)
	add(r.ledger.gross, r.c.process, r.now, all)
	for _, b := range r.books {
		if b.pause.ramping(r.now) {
			b.pause.gone += n
		}
	}
}
