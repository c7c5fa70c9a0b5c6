package throttle

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

// A MemoryStore is a Store in this process's memory. Throttles of one process
// that are given the same MemoryStore share their budgets. It is safe for
// concurrent use, and needs no closing.
//
// Its clock is the process's monotonic one, so that a step of the wall clock
// moves no window.
type MemoryStore struct {
	base time.Time

	mu       sync.Mutex
	accounts map[string]*memoryAccount
	watchers map[int]func(notice)
	nextID   int
	sweepAt  int // how many records there may be before the next sweep
	records  int
}

// A memoryAccount is what one account has in the store.
type memoryAccount struct {
	whole   memoryRecord
	budgets map[string]*memoryRecord
	tenants map[memoryTenant]*memoryRecord
	keys    map[Fingerprint]*keyRecord
}

// A memoryTenant is whose a tenant's record is.
type memoryTenant struct{ budget, name string }

// A memoryRecord is a record and when it stops mattering.
type memoryRecord struct {
	record
	expires float64
}

// sweepFrom is how many records a store holds before it looks for dead ones.
const sweepFrom = 1024

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore {
	return &MemoryStore{
		base:     time.Now(),
		accounts: map[string]*memoryAccount{},
		watchers: map[int]func(notice){},
		sweepAt:  sweepFrom,
	}
}

// now is the store's time in microseconds since the epoch.
func (m *MemoryStore) now() float64 {
	return float64(m.base.UnixMicro() + time.Since(m.base).Microseconds())
}

func (m *MemoryStore) immediate() bool     { return true }
func (m *MemoryStore) hears() bool         { return true }
func (m *MemoryStore) shard(string) string { return "" }
func (m *MemoryStore) trouble() error      { return nil }
func (m *MemoryStore) fleet() (int, int)   { return 0, 1 }

func (m *MemoryStore) watch(f func(notice)) func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := m.nextID
	m.nextID++
	m.watchers[id] = f
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.watchers, id)
	}
}

func (m *MemoryStore) claim(_ context.Context, c *claim) (answer, error) {
	a, notices, watchers, err := m.decide(c, -1)
	for _, n := range notices {
		for _, f := range watchers {
			f(n)
		}
	}
	return a, err
}

func (m *MemoryStore) look(_ context.Context, claims []claim) ([]answer, error) {
	answers := make([]answer, len(claims))
	for i := range claims {
		a, _, _, err := m.decide(&claims[i], -1)
		if err != nil {
			return nil, err
		}
		answers[i] = a
	}
	return answers, nil
}

// decide applies the claim at the given time; negative: now. The time is read
// under the lock: one read before it could be older than the state.
func (m *MemoryStore) decide(c *claim, now float64) (answer, []notice, []func(notice), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now < 0 {
		now = m.now()
	}
	b := m.bench(c, now)
	a, err := decide(b)
	if c.dry || err != nil {
		return a, nil, nil, err
	}
	m.extend(b)
	for i, k := range b.keys {
		if k.gen > 0 {
			m.accounts[c.account].keys[c.keys[i]] = k
		}
	}
	if len(b.notices) == 0 {
		return a, nil, nil, nil
	}
	return a, b.notices, slices.Collect(maps.Values(m.watchers)), nil
}

// bench lays out the records that the claim touches, or copies of them if it
// is to change nothing.
func (m *MemoryStore) bench(c *claim, now float64) *bench {
	if len(c.tenants) > 0 && m.records >= m.sweepAt {
		m.sweep(now)
	}
	rec := m.recordOf(c, now)
	acct := m.accounts[c.account]
	b := &bench{c: c, now: now, budget: &rec.record, account: &acct.whole.record}
	for _, id := range c.keys {
		k := acct.keys[id]
		if k == nil {
			k = &keyRecord{} // decide keeps it if it comes to mean something
		}
		b.keys = append(b.keys, k)
	}
	for i := range c.tenants {
		b.tenants = append(b.tenants, tenantBench{rec: &m.tenantOf(c, i, now).record})
	}
	if c.dry {
		for i := range b.tenants {
			b.tenants[i].rec = b.tenants[i].rec.clone()
		}
		b.budget, b.account = b.budget.clone(), b.account.clone()
		for i, k := range b.keys {
			copied := *k
			b.keys[i] = &copied
		}
		return b
	}
	return b
}

// recordOf returns the claim's budget record, a new one if need be.
func (m *MemoryStore) recordOf(c *claim, now float64) *memoryRecord {
	if acct := m.accounts[c.account]; acct != nil && acct.budgets[c.budget] != nil {
		return acct.budgets[c.budget]
	}
	m.grow(now)
	acct := m.accounts[c.account]
	if acct == nil {
		acct = &memoryAccount{budgets: map[string]*memoryRecord{}, keys: map[Fingerprint]*keyRecord{}}
		m.accounts[c.account] = acct
	}
	rec := &memoryRecord{}
	acct.budgets[c.budget] = rec
	return rec
}

// tenantOf returns the record of a tenant of the claim, a new one if need be.
func (m *MemoryStore) tenantOf(c *claim, i int, now float64) *memoryRecord {
	acct, id := m.accounts[c.account], memoryTenant{c.budget, c.tenants[i].name}
	if acct.tenants == nil {
		acct.tenants = map[memoryTenant]*memoryRecord{}
	}
	rec := acct.tenants[id]
	if rec == nil {
		rec = &memoryRecord{}
		if c.dry {
			return rec
		}
		acct.tenants[id] = rec
		m.records++ // the next claim sweeps: this one is at work with the others
	}
	return rec
}

// extend keeps the records for as long as something in them matters.
func (m *MemoryStore) extend(b *bench) {
	acct := m.accounts[b.c.account]
	for j := range b.tenants {
		r := acct.tenants[memoryTenant{b.c.budget, b.c.tenants[j].name}]
		for i, c := range b.tenants[j].counts {
			if s := &b.c.limits[b.c.shared()+i]; s.amount > 0 {
				r.expires = max(r.expires, c.expires(s, b.now))
			}
		}
	}
	for i := range min(len(b.counts), b.c.shared()) {
		r := &acct.whole
		if i < b.c.own {
			r = acct.budgets[b.c.budget]
		}
		if s := &b.c.limits[i]; s.amount > 0 {
			r.expires = max(r.expires, b.counts[i].expires(s, b.now))
		}
	}
}

// grow counts a new record, and drops the dead ones each time their number
// has doubled, so that the work is spread evenly.
func (m *MemoryStore) grow(now float64) {
	if m.records++; m.records >= m.sweepAt {
		m.sweep(now)
	}
}

func (m *MemoryStore) sweep(now float64) {
	m.records = 0
	for id, acct := range m.accounts {
		for name, r := range acct.budgets {
			if r.dead(now) {
				delete(acct.budgets, name)
			}
		}
		for key, k := range acct.keys {
			if max(k.next, k.began)+keyKept < now {
				delete(acct.keys, key)
			}
		}
		for id, r := range acct.tenants {
			if r.dead(now) {
				delete(acct.tenants, id)
			}
		}
		m.records += len(acct.budgets) + len(acct.tenants)
		if len(acct.budgets)+len(acct.tenants) == 0 && len(acct.keys) == 0 && acct.whole.dead(now) {
			delete(m.accounts, id)
		}
	}
	m.sweepAt = max(sweepFrom, 2*m.records)
}

// dead reports whether nothing in the record matters any more.
func (r *memoryRecord) dead(now float64) bool {
	if r.expires > now || r.until+r.ramp > now {
		return false
	}
	for _, until := range r.denied {
		if until > now {
			return false
		}
	}
	return true
}

// clone copies a record deep enough for a claim to change the copy.
func (r *record) clone() *record {
	c := *r
	c.counts = slices.Clone(r.counts)
	for i := range c.counts {
		c.counts[i] = c.counts[i].clone()
	}
	c.denied = maps.Clone(r.denied)
	c.slots = slices.Clone(r.slots)
	c.line = slices.Clone(r.line)
	return &c
}

func (c counter) clone() counter {
	c.shares, c.slots, c.holders = slices.Clone(c.shares), slices.Clone(c.slots), slices.Clone(c.holders)
	return c
}
