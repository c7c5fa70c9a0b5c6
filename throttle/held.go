package throttle

// A limit on calls in flight counts who holds how many: every claim of a queue
// states how many of its calls run, and its grants are added. A statement holds
// for heldKept and is renewed in time; so a process that is killed frees its
// calls by itself, nothing is taken back twice, and a lost message is mended by
// the next. held.go and the held_ functions of the script are the same
// arithmetic in the same order; change both.

// A holder is a queue whose calls run.
type holder struct {
	process  string
	n, until float64
}

// heldKept is how long a statement holds, in microseconds.
const heldKept = 30 * 1e6

// held is the algorithm of limits on calls in flight. No other limit has it.
const held Algorithm = 5

// heldLabel is the label of every such limit: it has no window.
const heldLabel = float64(UnitInFlight)*8 + float64(held)

func (s *spec) inFlight() bool { return s.algorithm == held }

// heldAdvance forgets the holders that weren't renewed.
func heldAdvance(c *counter, now float64) {
	kept := c.holders[:0]
	c.current = 0
	for _, h := range c.holders {
		if h.until > now {
			kept = append(kept, h)
			c.current += h.n
		}
	}
	c.holders = kept
}

// heldBy sets how many calls of a queue run, and returns by how much fewer that
// is than before.
func heldBy(c *counter, process string, n, now float64) float64 {
	for i := range c.holders {
		h := &c.holders[i]
		if h.process != process {
			continue
		}
		fewer := h.n - n
		c.current -= fewer
		if n > 0 {
			h.n, h.until = n, now+heldKept
		} else {
			c.holders = append(c.holders[:i], c.holders[i+1:]...)
		}
		return fewer
	}
	if n > 0 {
		c.holders = append(c.holders, holder{process, n, now + heldKept})
		c.current += n
	}
	return -n
}

// heldTake adds calls of a queue that were let through.
func heldTake(c *counter, process string, units, now float64) {
	for i := range c.holders {
		if c.holders[i].process == process {
			units += c.holders[i].n
		}
	}
	heldBy(c, process, units, now)
}

// heldUntil is when the first statement lapses, unless it is renewed.
func heldUntil(c *counter, now float64) float64 {
	until := now + heldKept
	for _, h := range c.holders {
		until = min(until, h.until)
	}
	return until
}

// state takes note of how many calls of the claim's queue run.
func (b *bench) state() {
	if b.c.process == "" || b.c.dry {
		return
	}
	for i, c := range b.counts[:b.c.shared()] {
		if !b.c.limits[i].inFlight() {
			continue
		}
		fewer := heldBy(c, b.c.process, b.c.held, b.now)
		if fewer != 0 || b.c.held > 0 {
			b.dirtyRecord(b.recordOf(i))
		}
		if fewer > 0 {
			b.free(i)
		}
	}
}

// free notes that room was given back in a limit.
func (b *bench) free(limit int) {
	switch {
	case limit < b.c.own:
		b.freed[0] = true
	case limit < b.c.shared():
		b.freed[1] = true
	default:
		b.tenants[b.tenant-1].freed = true
	}
}

// lateFor is when a call should ask again that lacks calls in flight: nobody
// knows when one ends, but it is announced.
func lateFor(c *counter, r *run, now float64) float64 {
	return now + min(max(1, r.patience), heldUntil(c, now)+1-now)
}
