package lanes

import "container/list"

// A Room is a waiting room: calls in order of lane, highest first, and within
// a lane of arrival. Each lane has two rows: fresh calls, which nobody has
// judged yet, and settled ones, which were told to wait. Settled calls of a
// lane are always older than its fresh ones, so the order of arrival is the
// settled row followed by the fresh one.
//
// A Room is not safe for concurrent use. Adding and removing take constant
// time. The zero Room has no lanes; use NewRoom.
type Room[T any] struct {
	fresh, settled []*list.List
	freshLen, len  int
}

// A Place is one call's place in a Room. It belongs to that Room alone.
type Place[T any] struct {
	Value   T
	lane    int
	fresh   bool
	element *list.Element
}

// NewRoom returns an empty room with the given number of lanes.
func NewRoom[T any](lanes int) *Room[T] {
	r := &Room[T]{}
	for range lanes {
		r.fresh = append(r.fresh, list.New())
		r.settled = append(r.settled, list.New())
	}
	return r
}

// Len returns how many calls are in the room.
func (r *Room[T]) Len() int { return r.len }

// LenOf returns how many calls of a lane are in the room.
func (r *Room[T]) LenOf(lane int) int { return r.fresh[lane].Len() + r.settled[lane].Len() }

// Fresh returns how many of them nobody has judged yet.
func (r *Room[T]) Fresh() int { return r.freshLen }

// Enter adds a fresh call at the end of a lane, 0 being the highest.
func (r *Room[T]) Enter(lane int, value T) *Place[T] {
	p := &Place[T]{Value: value, lane: lane, fresh: true}
	p.element = r.fresh[lane].PushBack(p)
	r.freshLen++
	r.len++
	return p
}

// Settle moves a fresh call to the settled row: it waits from now on. Calls of
// a lane must be settled in the order in which they came. A call that is
// settled already stays where it is, and one that left stays out.
func (r *Room[T]) Settle(p *Place[T]) {
	if !p.fresh || p.element == nil {
		return
	}
	r.fresh[p.lane].Remove(p.element)
	p.fresh = false
	p.element = r.settled[p.lane].PushBack(p)
	r.freshLen--
}

// Leave takes a call out of the room. Leaving twice does nothing.
func (r *Room[T]) Leave(p *Place[T]) {
	if p.element == nil {
		return
	}
	if p.fresh {
		r.fresh[p.lane].Remove(p.element)
		r.freshLen--
	} else {
		r.settled[p.lane].Remove(p.element)
	}
	p.element = nil
	r.len--
}

// Settled reports whether the call is in the room and was told to wait.
func (p *Place[T]) Settled() bool { return p.element != nil && !p.fresh }

// In reports whether the call is in the room.
func (p *Place[T]) In() bool { return p.element != nil }

// EachSettled calls f for the settled calls of a lane, oldest first, until f
// returns false. f may remove the call that it is given.
func (r *Room[T]) EachSettled(lane int, f func(*Place[T]) bool) { each(r.settled[lane], f) }

// EachFresh does the same for the fresh calls of a lane.
func (r *Room[T]) EachFresh(lane int, f func(*Place[T]) bool) { each(r.fresh[lane], f) }

// Each calls f for every call in the room in order, until f returns false. f
// may remove the call that it is given.
func (r *Room[T]) Each(f func(*Place[T]) bool) {
	more := true
	g := func(p *Place[T]) bool { more = f(p); return more }
	for lane := range r.fresh {
		if r.EachSettled(lane, g); !more {
			return
		}
		if r.EachFresh(lane, g); !more {
			return
		}
	}
}

func each[T any](l *list.List, f func(*Place[T]) bool) {
	for e := l.Front(); e != nil; {
		next := e.Next()
		if !f(e.Value.(*Place[T])) {
			return
		}
		e = next
	}
}
