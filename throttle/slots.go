package throttle

import (
	"errors"
	"slices"
)

// A claim charges once: it carries its process and a number, and the budget
// keeps the last number of each process and what was answered. The same number
// gets the same answer; a lower one is a command that wandered about in the
// network until its successor had come, and is refused. After a claim without
// an answer the process says with its next one what it really spent, and the
// store corrects what it charged, or books it if the claim never arrived.
// slots.go and lua/slots.lua are the same, step by step; change both.

// Errors of a claim that comes again.
var (
	errStale = errors.New("headgate: STALE a later claim of this process came first")
	errLost  = errors.New("headgate: LOST the claim was applied, and its answer wasn't kept")
)

// replay looks for an earlier arrival of the claim: its answer, or an error.
func (b *bench) replay() (*answer, error) {
	s := b.slot()
	if s == nil || b.c.number > s.number {
		return nil, nil
	}
	switch {
	case b.c.number < s.number:
		return nil, errStale
	case s.answer == nil:
		return nil, errLost
	}
	return s.answer, nil
}

// slot returns the slot of the claim's process, nil if it has none.
func (b *bench) slot() *slot {
	if b.c.number == 0 {
		return nil
	}
	i := slices.IndexFunc(b.budget.slots, func(s slot) bool { return s.process == b.c.process })
	if i < 0 {
		return nil
	}
	return &b.budget.slots[i]
}

// fix corrects what claims of unknown fate have charged. They come in the order
// of their numbers: the one that the slot has was the last to be applied; those
// before it were applied too, or fixed with it, and those after it never were.
func (b *bench) fix() {
	first := 0
	if s := b.slot(); s != nil {
		for i, f := range b.c.fixes {
			if f.number == s.number && len(s.charged) == len(f.spent) {
				b.settle(settlement{at: s.at, delta: difference(f.spent, s.charged)})
				b.fixTenants(s, &b.c.fixes[i])
				first = i + 1
			}
		}
	}
	for i, f := range b.c.fixes[first:] {
		b.settle(settlement{at: b.now, delta: f.spent})
		b.bookTenants(&b.c.fixes[first+i])
		for _, s := range f.settles {
			b.settle(s)
		}
	}
}

func difference(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
	}
	return d
}

// keeps reports whether the claim changed anything that another arrival of it
// must not change again.
func (b *bench) keeps() bool {
	return b.c.number > 0 && (b.changed || len(b.c.fixes) > 0)
}

// keep notes the claim in its process's slot, if it must not come twice.
func (b *bench) keep(a *answer) {
	if !b.keeps() {
		return
	}
	s := slot{process: b.c.process, number: b.c.number, at: b.now, charged: b.charged[:b.c.shared()], tenants: b.chargedTenants()}
	n := 0
	for _, o := range a.outcomes {
		n += len(o)
	}
	if n <= slotAnswer {
		kept := *a
		s.answer = &kept
	}
	kept := float64(slotKept)
	if len(b.budget.slots) > slotMany {
		kept = slotKeptOfMany
	}
	b.budget.slots = slices.DeleteFunc(b.budget.slots, func(o slot) bool {
		return o.process == s.process || o.at < b.now-kept
	})
	for i := range b.budget.slots {
		if o := &b.budget.slots[i]; o.at < b.now-slotAnswerKept {
			o.answer = nil
		}
	}
	b.budget.slots = append(b.budget.slots, s)
}
