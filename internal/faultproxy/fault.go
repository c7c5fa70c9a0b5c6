package faultproxy

import (
	"bytes"
	"sync/atomic"
)

// A Fault is harm done a number of times.
type Fault struct {
	kind  kind
	match []byte
	left  int // Guarded by the proxy's mu.
	hits  atomic.Int64
	done  chan struct{}
}

type kind uint8

const (
	cutRequest kind = iota + 1
	loseReply
	cutReply
)

// Hits returns how often the fault has struck.
func (f *Fault) Hits() int { return int(f.hits.Load()) }

// Done returns a channel that is closed once the fault has struck as often as
// it was to. It stays open if Pass comes first.
func (f *Fault) Done() <-chan struct{} { return f.done }

// LoseReplies swallows the next n replies to commands whose bytes contain
// match, any command if that is empty. The commands are carried out, the
// connections stay open and later replies pass.
//
// Commands are searched as they are on the wire, where go-redis writes their
// names in lower case. Without match the greeting of a new connection counts.
func (p *Proxy) LoseReplies(n int, match string) *Fault { return p.add(loseReply, n, match) }

// CutReplies is like LoseReplies, but cuts each connection instead of passing
// the reply: the command is carried out and the client sees the connection
// break.
func (p *Proxy) CutReplies(n int, match string) *Fault { return p.add(cutReply, n, match) }

// CutRequests cuts the connection instead of passing the next n commands whose
// bytes contain match: they never reach the target.
func (p *Proxy) CutRequests(n int, match string) *Fault { return p.add(cutRequest, n, match) }

func (p *Proxy) add(k kind, n int, match string) *Fault {
	f := &Fault{kind: k, match: []byte(match), left: n, done: make(chan struct{})}
	if n <= 0 {
		close(f.done)
		return f
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, f)
	return f
}

// strike returns what happens to a command or its reply, 0 if nothing, and
// counts it. Where several faults apply it is the oldest.
func (p *Proxy) strike(cmd []byte, kinds ...kind) kind {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.faults {
		if f.left == 0 || !f.concerns(cmd, kinds) {
			continue
		}
		f.hits.Add(1)
		if f.left--; f.left == 0 {
			close(f.done)
		}
		return f.kind
	}
	return 0
}

func (f *Fault) concerns(cmd []byte, kinds []kind) bool {
	for _, k := range kinds {
		if f.kind == k {
			return bytes.Contains(cmd, f.match)
		}
	}
	return false
}
