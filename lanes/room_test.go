package lanes_test

import (
	"slices"
	"testing"

	"github.com/headgate-go/headgate/lanes"
)

// everybody lists the room's values in its order.
func everybody(r *lanes.Room[string]) []string {
	var all []string
	r.Each(func(p *lanes.Place[string]) bool {
		all = append(all, p.Value)
		return true
	})
	return all
}

func wantRoom(t *testing.T, r *lanes.Room[string], fresh int, order ...string) {
	t.Helper()
	if got := everybody(r); !slices.Equal(got, order) {
		t.Errorf("order %q, want %q", got, order)
	}
	if r.Len() != len(order) || r.Fresh() != fresh {
		t.Errorf("Len, Fresh = %d, %d, want %d, %d", r.Len(), r.Fresh(), len(order), fresh)
	}
}

func TestHigherLaneGoesFirstThenFirstCome(t *testing.T) {
	r := lanes.NewRoom[string](3)
	r.Enter(2, "c1")
	r.Enter(0, "a1")
	r.Enter(1, "b1")
	r.Enter(0, "a2")
	r.Enter(2, "c2")
	wantRoom(t, r, 5, "a1", "a2", "b1", "c1", "c2")
}

func TestSettledGoBeforeFreshOfTheirLaneOnly(t *testing.T) {
	r := lanes.NewRoom[string](2)
	b1 := r.Enter(1, "b1")
	a1 := r.Enter(0, "a1")
	r.Settle(b1)
	r.Enter(0, "a2")
	r.Enter(1, "b2")
	wantRoom(t, r, 3, "a1", "a2", "b1", "b2")
	r.Settle(a1)
	wantRoom(t, r, 2, "a1", "a2", "b1", "b2")
	if !a1.Settled() || !b1.Settled() {
		t.Error("settled calls say that they are not")
	}
}

func TestSettlingAgainKeepsThePlace(t *testing.T) {
	r := lanes.NewRoom[string](1)
	first, second := r.Enter(0, "first"), r.Enter(0, "second")
	r.Settle(first)
	r.Settle(second)
	r.Settle(first)
	wantRoom(t, r, 0, "first", "second")
}

func TestLeavingTwiceCountsOnce(t *testing.T) {
	r := lanes.NewRoom[string](1)
	fresh, settled := r.Enter(0, "fresh"), r.Enter(0, "settled")
	r.Enter(0, "stays")
	r.Settle(settled)
	for range 2 {
		r.Leave(fresh)
		r.Leave(settled)
	}
	wantRoom(t, r, 1, "stays")
	if fresh.Settled() || settled.Settled() {
		t.Error("a call that left says it is settled")
	}
}

func TestSettlingACallThatLeftDoesNothing(t *testing.T) {
	r := lanes.NewRoom[string](1)
	gone := r.Enter(0, "gone")
	r.Leave(gone)
	r.Settle(gone)
	wantRoom(t, r, 0)
	if gone.Settled() {
		t.Error("a call that left says it is settled")
	}
}

func TestRemovingWhileIteratingSkipsNobody(t *testing.T) {
	r := lanes.NewRoom[string](2)
	for _, name := range []string{"a1", "a2", "a3"} {
		r.Settle(r.Enter(0, name))
	}
	r.Enter(0, "a4")
	r.Enter(1, "b1")
	var seen []string
	r.Each(func(p *lanes.Place[string]) bool {
		seen = append(seen, p.Value)
		r.Leave(p)
		return true
	})
	if want := []string{"a1", "a2", "a3", "a4", "b1"}; !slices.Equal(seen, want) {
		t.Errorf("saw %q, want %q", seen, want)
	}
	wantRoom(t, r, 0)
}

// A claim settles fresh calls while it walks them.
func TestSettlingWhileIteratingSkipsNobody(t *testing.T) {
	r := lanes.NewRoom[string](1)
	r.Settle(r.Enter(0, "old"))
	r.Enter(0, "new1")
	r.Enter(0, "new2")
	var seen []string
	r.EachFresh(0, func(p *lanes.Place[string]) bool {
		seen = append(seen, p.Value)
		r.Settle(p)
		return true
	})
	if want := []string{"new1", "new2"}; !slices.Equal(seen, want) {
		t.Errorf("saw %q, want %q", seen, want)
	}
	wantRoom(t, r, 0, "old", "new1", "new2")
}

func TestIterationStopsWhereAsked(t *testing.T) {
	for stop := 1; stop <= 4; stop++ {
		r := lanes.NewRoom[string](2)
		r.Settle(r.Enter(0, "a1"))
		r.Enter(0, "a2")
		r.Settle(r.Enter(1, "b1"))
		r.Enter(1, "b2")
		seen := 0
		r.Each(func(*lanes.Place[string]) bool {
			seen++
			return seen < stop
		})
		if seen != stop {
			t.Errorf("Each called f %d times, want %d", seen, stop)
		}
	}
}

func TestAnEmptyRoomHasNobody(t *testing.T) {
	wantRoom(t, lanes.NewRoom[string](3), 0)
	wantRoom(t, lanes.NewRoom[string](0), 0)
}
