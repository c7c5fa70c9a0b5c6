package faultproxy

import "net"

// passRequests brings the target what the client says, until the client has
// no more to say or the connection is cut.
func (c *conn) passRequests() {
	for arrived := c.read(c.client, true); ; {
		next, ok := c.receive(arrived)
		if !ok || !c.passRequest(next) {
			return
		}
	}
}

func (c *conn) passRequest(cmd chunk) (more bool) {
	swallow, err := c.proxy.awaitTurn(c.ctx, toTarget, cmd.at)
	switch {
	case err != nil:
		return false
	case cmd.end:
		c.hangUp()
		return false
	case swallow:
		c.swallow(cmd)
		return true
	case c.proxy.strike(cmd.data, cutRequest) == cutRequest:
		c.close()
		return false
	}
	target, err := c.dial()
	if err != nil {
		c.close()
		return false
	}
	c.expect(cmd)
	c.write(target, cmd, toTarget)
	return true
}

// hangUp tells the target that the client has no more to say. What the client
// has said is answered all the same, as it would be without a proxy.
func (c *conn) hangUp() {
	c.mu.Lock()
	target := c.target
	c.mu.Unlock()
	if target == nil || target.CloseWrite() != nil {
		c.close()
	}
}

// passReplies brings the client what the target says, until the target closes
// or the connection is cut.
func (c *conn) passReplies(target net.Conn) {
	for arrived := c.read(target, false); ; {
		next, ok := c.receive(arrived)
		if !ok || !c.passReply(next) {
			return
		}
	}
}

func (c *conn) passReply(reply chunk) (more bool) {
	swallow, err := c.proxy.awaitTurn(c.ctx, toClient, reply.at)
	if err != nil {
		return false
	}
	if reply.end {
		c.proxy.awaitOpen(c.ctx)
		c.close()
		return false
	}
	cmd, known := c.answered(reply)
	if swallow {
		c.swallow(reply)
		return true
	}
	if known {
		switch c.proxy.strike(cmd, loseReply, cutReply) {
		case loseReply:
			c.swallow(reply)
			return true
		case cutReply:
			c.close()
			return false
		}
	}
	c.write(c.client, reply, toClient)
	return true
}

func (c *conn) receive(arrived <-chan chunk) (next chunk, ok bool) {
	select {
	case next = <-arrived:
		return next, true
	case <-c.ctx.Done():
		return chunk{}, false
	}
}

// write counts before it writes, so that what somebody has heard is counted.
// It ignores errors: whoever doesn't take what it is sent has closed its side,
// of which the reader of that side hears too.
func (c *conn) write(to net.Conn, what chunk, w way) {
	count := &c.proxy.counts.passed[w]
	count.Add(int64(len(what.data)))
	n, _ := to.Write(what.data)
	count.Add(int64(n - len(what.data)))
}

func (c *conn) swallow(what chunk) { c.proxy.counts.swallowed.Add(int64(len(what.data))) }
