package throttle

// lately says how much of each limit was charged so lately that it may still
// count, by the claim's shared limits and by its tenants and their own. Of
// windows that is what was charged in this one and the last: a store's windows
// begin by another clock.
func (m *MemoryStore) lately(c *claim) (shared []float64, own [][]float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dry := *c
	dry.dry = true
	now := m.now()
	b := m.bench(&dry, now)
	for i := range c.shared() {
		rec := b.budget
		if i >= c.own {
			rec = b.account
		}
		shared = append(shared, latelyCharged(rec, &c.limits[i], now))
	}
	for j := range b.tenants {
		units := make([]float64, 0, c.perTenant)
		for i := range c.perTenant {
			units = append(units, latelyCharged(b.tenants[j].rec, &c.limits[c.shared()+i], now))
		}
		own = append(own, units)
	}
	return shared, own
}

func latelyCharged(r *record, s *spec, now float64) float64 {
	c := r.counterOf(s)
	switch s.algorithm {
	case SlidingWindow, FixedWindow:
		windowAdvance(c, s, now)
		return c.current + c.previous
	default:
		return c.used(s, now)
	}
}
