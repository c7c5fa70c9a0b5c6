package faultproxy

import (
	"context"
	"net"
	"time"
)

// A Direction says which bytes Delay concerns.
type Direction uint8

const (
	ToTarget Direction = 1 << iota // commands
	ToClient                       // replies
	Both     = ToTarget | ToClient
)

// A way is one direction.
type way int

const (
	toTarget way = iota
	toClient
)

// Pass ends everything that was set: all passes again, and what was held back
// goes out at once. What was swallowed is lost.
func (p *Proxy) Pass() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hole, p.delay, p.faults = false, [2]time.Duration{}, nil
	p.changeLocked()
	if p.listener != nil || p.closed {
		return
	}
	l, err := net.Listen("tcp", p.Addr)
	if err != nil {
		p.tb.Errorf("faultproxy: listen again: %v", err)
		return
	}
	p.serveLocked(l)
}

// Delay holds back what goes the given way by d, counted from its arrival, so
// that commands sent side by side are late by d and no more. 0 ends it. With a
// long delay everything is held back until Pass.
func (p *Proxy) Delay(dir Direction, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for w, bit := range []Direction{toTarget: ToTarget, toClient: ToClient} {
		if dir&bit != 0 {
			p.delay[w] = d
		}
	}
	p.changeLocked()
}

// BlackHole swallows everything both ways. Connections stay open, also when
// the target closes its side, and new ones are accepted.
func (p *Proxy) BlackHole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hole = true
	p.changeLocked()
}

// RefuseNew has new connections refused. Open ones stay.
func (p *Proxy) RefuseNew() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuseLocked()
}

// CutAll closes all connections, with what they hold back, and returns how
// many there were.
func (p *Proxy) CutAll() int {
	p.mu.Lock()
	cut := p.conns
	p.conns = make(map[*conn]struct{})
	p.mu.Unlock()
	for c := range cut {
		c.close()
	}
	return len(cut)
}

func (p *Proxy) changeLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// awaitTurn returns when a chunk that arrived at the given time may go on, and
// whether it is swallowed instead. It returns an error if ctx ends first.
func (p *Proxy) awaitTurn(ctx context.Context, w way, arrived time.Time) (swallow bool, err error) {
	for {
		p.mu.Lock()
		hole, left, changed := p.hole, p.delay[w]-time.Since(arrived), p.changed
		p.mu.Unlock()
		if hole || left <= 0 {
			return hole, ctx.Err()
		}
		due := time.NewTimer(left)
		select {
		case <-due.C:
		case <-changed:
		case <-ctx.Done():
		}
		due.Stop()
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
}

// awaitOpen returns when there is no black hole, or ctx has ended.
func (p *Proxy) awaitOpen(ctx context.Context) {
	for {
		p.mu.Lock()
		hole, changed := p.hole, p.changed
		p.mu.Unlock()
		if !hole {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}
