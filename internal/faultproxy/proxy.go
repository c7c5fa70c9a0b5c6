package faultproxy

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A Proxy passes connections on to a target and does to them what its methods
// say. They are safe for concurrent use.
type Proxy struct {
	// Addr is host and port where clients find the proxy. It never changes.
	Addr string

	target string
	tb     testing.TB
	all    sync.WaitGroup // every goroutine
	counts counts

	mu       sync.Mutex
	closed   bool               // Guarded by mu, like all below.
	listener net.Listener       // nil while new connections are refused
	conns    map[*conn]struct{} // open ones
	faults   []*Fault           // oldest first
	hole     bool               // nothing passes
	delay    [2]time.Duration   // by way
	changed  chan struct{}      // closed and replaced when hole or delay change
}

type counts struct {
	accepted, swallowed atomic.Int64
	passed              [2]atomic.Int64 // by way
}

// Stats are what a proxy has seen so far.
type Stats struct {
	Accepted int // connections, closed ones included
	Open     int // connections that are open

	ToTarget, ToClient int64 // bytes passed on
	Swallowed          int64 // bytes not passed on, by BlackHole or LoseReplies
}

// New starts a proxy that ends with the test. It connects to the target when a
// connection has something to pass on.
func New(tb testing.TB, target string) *Proxy {
	tb.Helper()
	l, err := listenAnywhere()
	if err != nil {
		tb.Fatalf("faultproxy: %v", err)
	}
	p := &Proxy{
		Addr:    l.Addr().String(),
		target:  target,
		tb:      tb,
		conns:   make(map[*conn]struct{}),
		changed: make(chan struct{}),
	}
	p.mu.Lock()
	p.serveLocked(l)
	p.mu.Unlock()
	tb.Cleanup(p.Close)
	return p
}

// Close cuts every connection and returns when nothing of the proxy runs any
// more.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	p.refuseLocked()
	p.mu.Unlock()
	p.CutAll()
	p.all.Wait()
}

// Stats returns what the proxy has seen so far.
func (p *Proxy) Stats() Stats {
	p.mu.Lock()
	open := len(p.conns)
	p.mu.Unlock()
	return Stats{
		Accepted:  int(p.counts.accepted.Load()),
		Open:      open,
		ToTarget:  p.counts.passed[toTarget].Load(),
		ToClient:  p.counts.passed[toClient].Load(),
		Swallowed: p.counts.swallowed.Load(),
	}
}

func (p *Proxy) serveLocked(l net.Listener) {
	p.listener = l
	p.all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return // closed: new connections are refused
			}
			p.counts.accepted.Add(1)
			p.serve(client)
		}
	})
}

// serve passes a connection on, unless the proxy was closed meanwhile.
func (p *Proxy) serve(client net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = client.Close()
		return
	}
	c := newConn(p, client)
	p.conns[c] = struct{}{}
	p.all.Go(c.passRequests)
}

func (p *Proxy) refuseLocked() {
	if p.listener == nil {
		return
	}
	// A child process that a test starts meanwhile has a copy of the socket
	// until its own program runs, for which the port would stay in use.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	_ = p.listener.Close()
	p.listener = nil
}

// listenAnywhere listens on a port below the range from which systems pick
// ports of outgoing connections, so that none of them takes it while the proxy
// refuses connections.
func listenAnywhere() (net.Listener, error) {
	var err error
	for range 50 {
		var l net.Listener
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(16_000+rand.IntN(16_000)))
		if l, err = net.Listen("tcp", addr); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no free port: %w", err)
}
