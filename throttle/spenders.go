package throttle

import (
	"maps"
	"slices"
)

// spenders are the credentials that may spend a chunk, and the generation that
// each had when it was claimed.
type spenders struct {
	gens map[Fingerprint]float64
	// Most chunks have one spender, which is then found without the map.
	only    Fingerprint
	onlyGen float64
}

// spendersOf are the credentials of a claim that aren't refused.
func (q *queue) spendersOf(b *batch, ans *answer) spenders {
	s := spenders{gens: map[Fingerprint]float64{}}
	for i, k := range b.claim.keys {
		if here := q.a.keyNow(k); !ans.keys[i].refused && !here.refused {
			s.gens[k] = max(ans.keys[i].gen, here.gen)
		}
	}
	s.single()
	return s
}

// single notes the only spender, if there is but one.
func (s *spenders) single() {
	s.only = ""
	for k, gen := range s.gens {
		if len(s.gens) == 1 {
			s.only, s.onlyGen = k, gen
		}
	}
}

// genOf returns the generation that the key had, if it may spend the chunk.
func (s *spenders) genOf(key Fingerprint) (gen float64, may bool) {
	if key == s.only && key != "" {
		return s.onlyGen, true
	}
	gen, may = s.gens[key]
	return gen, may
}

// forget has the key spend nothing any more.
func (s *spenders) forget(key Fingerprint) {
	delete(s.gens, key)
	s.single()
}

func (s *spenders) names() []Fingerprint { return slices.Collect(maps.Keys(s.gens)) }
