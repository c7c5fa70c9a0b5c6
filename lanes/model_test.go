package lanes_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/headgate-go/headgate/lanes"
)

// A slowRoom is what a Room means: one slice per lane, in order of arrival.
type slowRoom [][]*guest

type guest struct {
	id      int
	place   *lanes.Place[int]
	lane    int
	settled bool
	left    bool
}

func (m slowRoom) ids(keep func(*guest) bool) []int {
	var ids []int
	for _, lane := range m {
		for _, g := range lane {
			if keep(g) {
				ids = append(ids, g.id)
			}
		}
	}
	return ids
}

func (m slowRoom) leave(g *guest) {
	g.left, g.settled = true, false
	m[g.lane] = slices.DeleteFunc(m[g.lane], func(h *guest) bool { return h == g })
}

// settle keeps the rule that calls of a lane are settled in order of arrival:
// everybody before the guest is settled too.
func (m slowRoom) settle(r *lanes.Room[int], g *guest) {
	if g.left {
		r.Settle(g.place)
		return
	}
	for _, h := range m[g.lane][:slices.Index(m[g.lane], g)+1] {
		r.Settle(h.place)
		h.settled = true
	}
}

func (m slowRoom) check(t *testing.T, r *lanes.Room[int]) {
	t.Helper()
	settled := func(g *guest) bool { return g.settled }
	fresh := func(g *guest) bool { return !g.settled }
	compare := func(what string, want []int, each func(func(*lanes.Place[int]) bool)) {
		var got []int
		each(func(p *lanes.Place[int]) bool {
			got = append(got, p.Value)
			return true
		})
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
	everyone := m.ids(func(*guest) bool { return true })
	compare("Each", everyone, r.Each)
	for lane := range m {
		one := m[lane : lane+1]
		compare("EachSettled", one.ids(settled), func(f func(*lanes.Place[int]) bool) { r.EachSettled(lane, f) })
		compare("EachFresh", one.ids(fresh), func(f func(*lanes.Place[int]) bool) { r.EachFresh(lane, f) })
	}
	if r.Len() != len(everyone) || r.Fresh() != len(m.ids(fresh)) {
		t.Fatalf("Len, Fresh = %d, %d, want %d, %d", r.Len(), r.Fresh(), len(everyone), len(m.ids(fresh)))
	}
}

// removeSome takes guests out while the room is walked.
func (m slowRoom) removeSome(r *lanes.Room[int], rnd *rand.Rand) {
	doomed := map[int]*guest{}
	for _, lane := range m {
		for _, g := range lane {
			if rnd.IntN(3) == 0 {
				doomed[g.id] = g
			}
		}
	}
	r.Each(func(p *lanes.Place[int]) bool {
		if doomed[p.Value] != nil {
			r.Leave(p)
		}
		return true
	})
	for _, g := range doomed {
		m.leave(g)
	}
}

func TestRandomOperationsMatchTheSlowRoom(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			operateAtRandom(t, rand.New(rand.NewPCG(seed, 0)), 1000)
		})
	}
}

func operateAtRandom(t *testing.T, rnd *rand.Rand, steps int) {
	const numLanes = 3
	r, model := lanes.NewRoom[int](numLanes), make(slowRoom, numLanes)
	var guests []*guest
	anyone := func() *guest { return guests[rnd.IntN(len(guests))] }
	for range steps {
		switch op := rnd.IntN(100); {
		case op < 45 || len(guests) == 0:
			g := &guest{id: len(guests), lane: rnd.IntN(numLanes)}
			g.place = r.Enter(g.lane, g.id)
			guests = append(guests, g)
			model[g.lane] = append(model[g.lane], g)
		case op < 65:
			model.settle(r, anyone())
		case op < 99:
			g := anyone()
			r.Leave(g.place)
			model.leave(g)
		default:
			model.removeSome(r, rnd)
		}
		if g := anyone(); g.place.Settled() != g.settled {
			t.Fatalf("Settled() of call %d is not %v", g.id, g.settled)
		}
		model.check(t, r)
	}
}
