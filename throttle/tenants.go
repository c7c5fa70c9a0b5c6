package throttle

// tenants.go is what a claim does to the counters that each tenant has of its
// own; lua/tenants.lua is the same, step by step; change both.
//
// A budget with a policy for tenants has limits behind its own and the account's
// that every tenant has a counter of its own for, in a record of its own. While
// a run of a tenant is judged, or a correction made for one, that tenant's
// counters stand in their places among the others, so that one step decides them
// all, in one way.

// A claimTenant is a tenant that a claim is about.
type claimTenant struct {
	name string // see tenantName
	// judged says that the first waiting call of each lane of the tenant travels
	// with the claim, if it has any: its tickets are replaced.
	judged bool
}

// tenantSpent is what was spent of a tenant's own limits.
type tenantSpent struct {
	name  string
	units []float64
}

// shared is how many of the claim's limits are not each tenant's own.
func (c *claim) shared() int { return len(c.limits) - c.perTenant }

// placeOf is a tenant's place among the claim's, from 1; 0: it has none.
func (c *claim) placeOf(name string) int {
	if name == "" {
		return 0
	}
	if c.places != nil {
		return c.places[name]
	}
	for i := range c.tenants {
		if c.tenants[i].name == name {
			return i + 1
		}
	}
	return 0
}

// addTenant adds a tenant to the claim, if need be, and returns its place.
func (c *claim) addTenant(name string) int {
	if name == "" {
		return 0
	}
	if c.places == nil {
		c.places = map[string]int{}
	}
	i := c.places[name]
	if i == 0 {
		c.tenants = append(c.tenants, claimTenant{name: name})
		i = len(c.tenants)
		c.places[name] = i
	}
	return i
}

// A tenantBench is a tenant's record, and what a claim counts of it by limit.
type tenantBench struct {
	name    string
	judged  bool
	rec     *record
	counts  []*counter
	ahead   []float64
	others  []float64
	charged []float64
	freed   bool
	seated  int // the last lane of which one of its calls waits, and
	seat    int // of which one waits for its own limits; from 1
}

// use puts a tenant's counters into their places. Without a tenant nothing is
// charged there, so it doesn't matter whose they are.
func (b *bench) use(tenant int) {
	if tenant == 0 || tenant == b.tenant {
		return
	}
	from := b.c.shared()
	if b.tenant > 0 {
		w := &b.tenants[b.tenant-1]
		copy(w.ahead, b.ahead[from:])
		copy(w.others, b.others[from:])
		copy(w.charged, b.charged[from:])
	}
	b.tenant = tenant
	w := &b.tenants[tenant-1]
	copy(b.counts[from:], w.counts)
	copy(b.ahead[from:], w.ahead)
	copy(b.others[from:], w.others)
	copy(b.charged[from:], w.charged)
}

// advanceTenants brings the tenants' counters to now.
func (b *bench) advanceTenants() {
	limits := b.c.limits[b.c.shared():]
	for j := range b.tenants {
		w := &b.tenants[j]
		w.name, w.judged = b.c.tenants[j].name, b.c.tenants[j].judged
		for i := range limits {
			w.rec.counterOf(&limits[i]) // they may move while the record grows
		}
		for i := range limits {
			c := w.rec.counterOf(&limits[i])
			c.advance(&limits[i], b.now)
			w.counts = append(w.counts, c)
		}
		w.ahead, w.others, w.charged = make([]float64, len(limits)), make([]float64, len(limits)), make([]float64, len(limits))
	}
	b.counts = append(b.counts, make([]*counter, len(limits))...)
}

// recordAt is the i-th record that has tickets: the budget's, the account's,
// then the tenants'.
func (b *bench) recordAt(i int) *record {
	switch i {
	case 0:
		return b.budget
	case 1:
		return b.account
	}
	return b.tenants[i-2].rec
}

// ticketed is how many such records there are.
func (b *bench) ticketed() int { return 2 + len(b.tenants) }

// fixTenants corrects what a claim of unknown fate has charged to tenants.
func (b *bench) fixTenants(s *slot, f *fix) {
	for j := range b.tenants {
		name := b.tenants[j].name
		spent, charged := unitsOf(f.tenants, name), unitsOf(s.tenants, name)
		if spent == nil {
			continue // nobody knows what became of it
		}
		d := settlement{at: s.at, tenant: name, delta: make([]float64, len(b.c.limits))}
		for i := range spent {
			k := b.c.shared() + i
			if d.delta[k] = spent[i]; charged != nil {
				d.delta[k] -= charged[i]
			}
		}
		b.settle(d)
	}
}

// bookTenants charges what was spent of tenants' own limits.
func (b *bench) bookTenants(f *fix) {
	for _, t := range f.tenants {
		if b.c.placeOf(t.name) == 0 {
			continue
		}
		d := settlement{at: b.now, tenant: t.name, delta: make([]float64, len(b.c.limits))}
		copy(d.delta[b.c.shared():], t.units)
		b.settle(d)
	}
}

func unitsOf(tenants []tenantSpent, name string) []float64 {
	for i := range tenants {
		if tenants[i].name == name {
			return tenants[i].units
		}
	}
	return nil
}

// chargedTenants is what the claim charged to tenants, for its slot.
func (b *bench) chargedTenants() (all []tenantSpent) {
	for j := range b.tenants {
		w := &b.tenants[j]
		units := w.charged
		if b.tenant == j+1 {
			units = b.charged[b.c.shared():]
		}
		for _, n := range units {
			if n != 0 {
				all = append(all, tenantSpent{w.name, append([]float64(nil), units...)})
				break
			}
		}
	}
	return all
}

// tenantsUsed is what is used of the tenants' own limits, for a dry claim.
func (b *bench) tenantsUsed() (used [][]float64) {
	limits := b.c.limits[b.c.shared():]
	for j := range b.tenants {
		units := make([]float64, len(limits))
		for i := range limits {
			units[i] = b.tenants[j].counts[i].used(&limits[i], b.now)
		}
		used = append(used, units)
	}
	return used
}

// overflowTenant stands for all tenants beyond those that are remembered.
const overflowTenant = "~"
