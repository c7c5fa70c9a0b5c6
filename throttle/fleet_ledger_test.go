package throttle

import (
	"fmt"
	"slices"
)

// A ledgerBook is what the fleet's calls cost: by the store, to the last unit
// and whether that still counts or not, and by what the callers really sent.
type ledgerBook struct {
	booked map[string]map[int64][]int64 // by queue and instant: charged and corrected since
	sent   map[string]map[int64][]int64 // likewise: what the calls cost that were charged then
	gross  map[string]map[int64][]int64 // what was charged, without corrections
	more   map[string]map[int64][]int64 // what calls cost beyond their estimates
	probes map[Fingerprint][]int64      // when probes began
}

func newLedgerBook() *ledgerBook {
	return &ledgerBook{booked: map[string]map[int64][]int64{}, sent: map[string]map[int64][]int64{}, gross: map[string]map[int64][]int64{}, more: map[string]map[int64][]int64{}, probes: map[Fingerprint][]int64{}}
}

func (l *ledgerBook) charge(process string, at int64, units []int64) {
	add(l.booked, process, at, units)
}

func add(to map[string]map[int64][]int64, process string, at int64, units []int64) {
	if !slices.ContainsFunc(units, func(n int64) bool { return n != 0 }) {
		return
	}
	of := to[process]
	if of == nil {
		of = map[int64][]int64{}
		to[process] = of
	}
	if of[at] == nil {
		of[at] = make([]int64, len(units))
	}
	for i, n := range units {
		of[at][i] += n
	}
}

// settled checks that in the end a queue's calls are booked as they were sent:
// at each instant if exact, else all together.
func (l *ledgerBook) settled(process string, exact bool) error {
	booked, sent := l.booked[process], l.sent[process]
	if !exact {
		booked, sent = together(booked), together(sent)
	}
	for at := range union(booked, sent) {
		for i := range max(len(booked[at]), len(sent[at])) {
			if b, s := nth(booked[at], i), nth(sent[at], i); b != s {
				return fmt.Errorf("of limit %d the store has booked %d for the calls charged at %d us, they cost %d", i, b, at, s)
			}
		}
	}
	return nil
}

func nth(ns []int64, i int) int64 {
	if i < len(ns) {
		return ns[i]
	}
	return 0
}

func together(of map[int64][]int64) map[int64][]int64 {
	sum := map[string]map[int64][]int64{}
	for _, units := range of {
		add(sum, "", 0, units)
	}
	if sum[""] == nil {
		return map[int64][]int64{}
	}
	return sum[""]
}

func union(a, b map[int64][]int64) map[int64]bool {
	all := map[int64]bool{}
	for at := range a {
		all[at] = true
	}
	for at := range b {
		all[at] = true
	}
	return all
}
