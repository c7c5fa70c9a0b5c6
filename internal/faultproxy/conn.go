package faultproxy

import (
	"context"
	"net"
	"slices"
	"sync"
	"time"
)

// dialTimeout is how long the target may take to accept a connection.
const dialTimeout = 5 * time.Second

// held is how many chunks may wait for their turn each way. A sender with more
// than that has to wait for its own.
const held = 4096

// unpairing are the commands after which replies no longer answer commands one
// by one.
var unpairing = []string{"subscribe", "psubscribe", "ssubscribe", "unsubscribe", "punsubscribe", "sunsubscribe", "monitor"}

// A conn is a client's connection and the one made for it to the target.
type conn struct {
	proxy  *Proxy
	ctx    context.Context // ends when the connection is cut
	cancel context.CancelFunc
	client net.Conn

	mu       sync.Mutex
	target   *net.TCPConn // Guarded by mu; nil until there is something to pass on.
	pending  [][]byte     // Guarded by mu; the commands without a reply so far.
	unpaired bool         // Guarded by mu; replies can't be told apart.
}

func newConn(p *Proxy, client net.Conn) *conn {
	c := &conn{proxy: p, client: client}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// close cuts the connection on both sides.
func (c *conn) close() {
	c.mu.Lock()
	c.cancel()
	if c.target != nil {
		_ = c.target.Close()
	}
	c.mu.Unlock()
	_ = c.client.Close()
	c.proxy.mu.Lock()
	delete(c.proxy.conns, c)
	c.proxy.mu.Unlock()
}

// read has a goroutine of its own stamp what arrives, while what came before
// waits for its turn.
func (c *conn) read(from net.Conn, requests bool) <-chan chunk {
	arrived := make(chan chunk, held)
	c.proxy.all.Go(func() {
		for s := newSource(from, requests); ; {
			next := s.next()
			select {
			case arrived <- next:
			case <-c.ctx.Done():
				return
			}
			if next.end {
				return
			}
		}
	})
	return arrived
}

// expect notes that a command goes to the target.
func (c *conn) expect(cmd chunk) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unpaired {
		return
	}
	if !cmd.resp || slices.Contains(unpairing, commandName(cmd.data)) {
		c.unpaired, c.pending = true, nil
		return
	}
	c.pending = append(c.pending, cmd.data)
}

// answered returns the command that a reply answers, if that can be said.
func (c *conn) answered(reply chunk) (cmd []byte, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !reply.resp {
		c.unpaired, c.pending = true, nil
	}
	if len(c.pending) == 0 || reply.data[0] == '>' { // a push answers nothing
		return nil, false
	}
	cmd, c.pending = c.pending[0], c.pending[1:]
	return cmd, true
}

// dial connects to the target unless that is done.
func (c *conn) dial() (*net.TCPConn, error) {
	c.mu.Lock()
	target := c.target
	c.mu.Unlock()
	if target != nil {
		return target, nil
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	t, err := dialer.DialContext(c.ctx, "tcp", c.proxy.target)
	if err != nil {
		return nil, err
	}
	return c.connected(t.(*net.TCPConn))
}

func (c *conn) connected(t *net.TCPConn) (*net.TCPConn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ctx.Err(); err != nil { // cut meanwhile, by somebody who didn't see t
		_ = t.Close()
		return nil, err
	}
	c.target = t
	c.proxy.all.Go(func() { c.passReplies(t) })
	return t, nil
}
