package main

import (
	"container/heap"
	"math/rand/v2"
	"sync"
	"time"
)

// A network lies between the fleet and the vendor. A request arrives up to
// jitter after it was sent, and so requests overtake each other. The vendor
// gets them one by one, in the order in which they arrive.
//
// What this machine's loopback adds while its cores are busy is no part of that:
// a request's arrival counts from the instant at which the throttle let it go,
// and the vendor is given it straggle later, by when it has really come. One
// that comes later still arrives then, and is counted as a straggler.
type network struct {
	straggle time.Duration
	judge    func(*parcel)

	mu         sync.Mutex
	random     *rand.Rand
	waiting    parcels
	last       time.Time // arrival of the last one that was given
	stragglers int
	timer      *time.Timer
	closed     bool
}

// A parcel is a request on its way to the vendor.
type parcel struct {
	origin
	arrives time.Time
	tokens  float64
	key     string
	verdict verdict
	judged  chan struct{} // closed once verdict is there
}

// newNetwork returns one that hands what arrives to judge, never twice at once.
func newNetwork(straggle time.Duration, judge func(*parcel)) *network {
	n := &network{straggle: straggle, judge: judge, random: rand.New(rand.NewPCG(1, 2))}
	n.timer = time.AfterFunc(time.Hour, n.deliver)
	return n
}

// carry takes a request and returns at once.
func (n *network) carry(p *parcel) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p.arrives = p.sent.Add(time.Duration(n.random.Int64N(int64(jitter))))
	heap.Push(&n.waiting, p)
	if n.waiting[0] == p && !n.closed {
		n.timer.Reset(time.Until(p.arrives.Add(n.straggle)))
	}
}

// deliver hands over what is due.
func (n *network) deliver() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.waiting) > 0 && !n.closed {
		p := n.waiting[0]
		if wait := time.Until(p.arrives.Add(n.straggle)); wait > 0 {
			n.timer.Reset(wait)
			return
		}
		heap.Pop(&n.waiting)
		if p.arrives.Before(n.last) {
			p.arrives = n.last
			n.stragglers++
		}
		n.last = p.arrives
		n.judge(p)
		close(p.judged)
	}
}

// late is how many requests came after others that had arrived later.
func (n *network) late() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stragglers
}

func (n *network) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	n.timer.Stop()
}

// parcels are a heap, the first to arrive on top.
type parcels []*parcel

func (p parcels) Len() int           { return len(p) }
func (p parcels) Less(i, j int) bool { return p[i].arrives.Before(p[j].arrives) }
func (p parcels) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *parcels) Push(x any)        { *p = append(*p, x.(*parcel)) }
func (p *parcels) Pop() any {
	old := *p
	last := old[len(old)-1]
	*p = old[:len(old)-1]
	return last
}
