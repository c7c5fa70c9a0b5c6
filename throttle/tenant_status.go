package throttle

import (
	"cmp"
	"slices"
	"time"
)

// topMost is how many tenants of a budget are shown.
const topMost = 20

// topLocked are the rows that are shown: by use of late, then by name.
func (q *queue) topLocked(now time.Time) []*row {
	if q.turns == nil {
		return nil
	}
	top := make([]*row, 0, len(q.turns.rows))
	for _, r := range q.turns.rows {
		top = append(top, r)
	}
	slices.SortFunc(top, func(r, s *row) int {
		return cmp.Or(cmp.Compare(s.scoreAt(now), r.scoreAt(now)), cmp.Compare(r.name, s.name))
	})
	return top[:min(len(top), topMost)]
}

// topTenants are the tenants with limits of their own that are shown, by their
// names in claims.
func (q *queue) topTenants(now time.Time) (names []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.all) == len(q.limits) {
		return nil
	}
	for _, r := range q.topLocked(now) {
		if r.name != "" {
			names = append(names, r.name)
		}
	}
	return names
}

func (q *queue) tenantStatusLocked(now time.Time) (all []TenantStatus) {
	for _, r := range q.topLocked(now) {
		s := TenantStatus{Tenant: r.id, Overflow: r.name == overflowTenant, Admitted: r.admitted.Load(), Denied: r.denied.Load()}
		for _, l := range r.lanes {
			if l != nil {
				s.Waiting += l.asks.Len()
			}
		}
		all = append(all, s)
	}
	return all
}

// tenantLimits adds what an answer says of the tenants that were asked for.
func (q *queue) tenantLimits(tenants []TenantStatus, asked []string, ans *answer) {
	for i := range tenants {
		name := tenantName(tenants[i].Tenant)
		if tenants[i].Overflow {
			name = overflowTenant
		}
		j := slices.Index(asked, name)
		if j < 0 || j >= len(ans.tenants) {
			continue
		}
		for k, used := range ans.tenants[j] {
			s := &q.all[len(q.limits)+k]
			l := LimitStatus{Limit: s.text, Unit: s.unit, Used: int64(used), Amount: int64(s.amount)}
			if s.isBucket() {
				l.Amount = int64(s.burst)
			}
			tenants[i].Limits = append(tenants[i].Limits, l)
		}
	}
}
