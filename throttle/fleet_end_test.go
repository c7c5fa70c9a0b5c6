package throttle

import "time"

// settleDown lets the fleet come to its end and looks at what is left.
func (f *fleetRun) settleDown() {
	f.mu.Lock()
	f.calm = true
	f.mu.Unlock()
	for _, p := range f.procs {
		if !p.dead() {
			p.callers.Wait()
		}
	}
	time.Sleep(f.inTime(time.Minute, 3*time.Second)) // until the store is found again and all is settled
	f.rest()
	f.checkSettled()
	for _, p := range f.procs {
		if p.dead() {
			defer func() { _ = p.th.Close() }()
			continue
		}
		_ = p.th.Close()
	}
	close(f.released)
	for _, p := range f.procs {
		p.callers.Wait()
	}
	if f.real {
		return
	}
	time.Sleep(time.Hour)
	f.rest()
	f.checkUntouched()
}

// inTime is how long to wait: in a bubble that costs nothing.
func (f *fleetRun) inTime(bubble, real time.Duration) time.Duration {
	if f.real {
		return real
	}
	return bubble
}

// checkSettled checks that the store has booked what was sent, and nothing
// else, and that nobody stands in line any more.
func (f *fleetRun) checkSettled() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure != "" {
		return
	}
	gone := map[string]bool{}
	for _, p := range f.procs {
		for _, q := range p.th.allQueues() {
			gone[q.process] = p.killed
			if p.killed || f.plan.forgets || f.plan.ages() && p.lostAt >= 0 { // it is booked as far as it still counts
				continue
			}
			if err := f.referee.ledger.settled(q.process, p.lostAt < 0); err != nil {
				f.fail("6 and 10, what was sent is booked", "process %d, budget %s: %v", p.n, q.name, err)
			}
		}
	}
	for _, s := range f.referee.shops {
		for name, b := range s.books {
			for _, w := range b.line {
				// A killed process's ticket stands until it is void.
				if !gone[w.process] && w.turn+stands >= int64(f.store.now()) {
					f.fail("2, a wait leaves nothing", "budget %q: %q has still a ticket in lane %d", name, w.process, w.lane)
				}
			}
		}
	}
}

// checkUntouched checks that a store of which everything has passed answers as
// if nothing had ever happened.
func (f *fleetRun) checkUntouched() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failure != "" {
		return
	}
	defer f.caught()
	for _, p := range f.procs {
		for _, q := range p.th.allQueues() {
			look := claim{account: q.a.id, budget: q.id, limits: q.limits, own: q.own, dry: true}
			seen, now, _, _ := f.store.decided(&look)
			f.referee.open(&look, int64(now))
			for i, m := range f.referee.meters {
				for lane := range m.portions {
					f.referee.must(m.free(lane, f.referee.now) < m.most(lane) || seen.lanes[i][lane] == float64(m.most(lane)),
						"2, what is over leaves nothing", "limit %d (%v): lane %d has %v left of %d", i, m.Limit, lane, seen.lanes[i][lane], m.most(lane))
				}
			}
		}
	}
}
