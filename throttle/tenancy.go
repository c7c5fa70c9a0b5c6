package throttle

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

// DefaultTenants is how many tenants a budget tells apart where TenantPolicy.Max
// is 0.
const DefaultTenants = 10_000

// A TenantPolicy shares a budget out among tenants: what one of them may use of
// it, and whose turn it is when several wait. The tenant of a call is its
// Call.Tenant, else that of its context; see WithTenant. A call without one has
// no limits but the budget's, and all such calls take turns as one tenant.
type TenantPolicy struct {
	// Share is the part of each of the budget's limits that a tenant may use,
	// in (0, 1], counted by its own use only: a ceiling, not a reservation. Limits
	// on calls in flight and over the account are not shared out. 0: no ceiling.
	Share float64
	// Limits are each tenant's own, beside the budget's, of any kind but calls in
	// flight.
	Limits []Limit
	// Weight is how many calls a tenant's turn has, where several tenants of a
	// lane wait; less than 1 counts as 1. "" stands for calls without a tenant. It
	// is asked when a tenant is first seen, and again once it was forgotten, by
	// the goroutine of its call: it must be quick and safe for concurrent use.
	// nil: 1 for everybody.
	Weight func(tenant string) int
	// Max is how many tenants a process tells apart. Those beyond it are one
	// tenant together until others have been forgotten, which is twice their
	// longest window after their last call and a minute at least. 0:
	// DefaultTenants.
	Max int
}

func (p TenantPolicy) off() bool {
	return p.Share == 0 && len(p.Limits) == 0 && p.Weight == nil && p.Max == 0
}

// validate reports the first field that is out of range.
func (p TenantPolicy) validate() error {
	switch {
	// The negated form also refuses NaN.
	case p.Share != 0 && !(p.Share > 0 && p.Share <= 1):
		return fmt.Errorf("Share is %v, want more than 0 and at most 1, or 0 for none", p.Share)
	case p.Max < 0:
		return fmt.Errorf("Max is %d, want 0 or more", p.Max)
	}
	for i, l := range p.Limits {
		if l.Unit == UnitInFlight {
			return fmt.Errorf("Limits[%d].Unit is %v, which tenants can't have of their own", i, l.Unit)
		}
	}
	return validateLimits("Limits", p.Limits)
}

// limits are those that each tenant has of its own, of a budget with the given
// limits. Of two that count alike the smaller one holds.
func (p TenantPolicy) limits(budget []Limit) []Limit {
	each := slices.Clone(p.Limits)
	for _, l := range budget {
		if p.Share == 0 || l.Unit == UnitInFlight {
			continue
		}
		l.Amount = shareOf(l.Amount, p.Share)
		if l.Burst > 0 {
			l.Burst = shareOf(l.Burst, p.Share)
		}
		i := slices.IndexFunc(each, l.sameCounter)
		switch {
		case i < 0:
			each = append(each, l)
		default:
			each[i].Burst = min(each[i].burst(), l.burst())
			if each[i].Amount = min(each[i].Amount, l.Amount); each[i].Algorithm != TokenBucket && each[i].Algorithm != GCRA {
				each[i].Burst = 0
			}
		}
	}
	return each
}

// shareOf is a share of an amount, and at least one, in integers: see newCeiling.
func shareOf(n int64, share float64) int64 {
	millionths := int64(math.Round(share * whole))
	return max(1, n/whole*millionths+n%whole*millionths/whole)
}

// compileTenants turns them into specs, which errors name as each tenant's.
func compileTenants(p TenantPolicy, budget []Limit, ls []lanes.Lane, where string) []spec {
	if p.off() {
		return nil
	}
	each := compileLimits(p.limits(budget), ls, where+"/tenant")
	for i := range each {
		each[i].text += " per tenant"
	}
	return each
}

// tenantOf is the call's tenant.
func (call *Call) tenantOf(ctx context.Context) string {
	if call.Tenant != "" {
		return call.Tenant
	}
	id, _ := ctx.Value(tenantKey{}).(string)
	return id
}

// tenantName is the name of a tenant in claims, which is no other's, never that
// of the overflow, and not long. "" is no tenant.
func tenantName(id string) string {
	if id == "" {
		return ""
	}
	if len(id) > maxName {
		sum := sha256.Sum256([]byte(id))
		return "#" + hex.EncodeToString(sum[:16])
	}
	return "=" + id
}

// forgetAfter is how long after its last call a tenant is forgotten.
func forgetAfter(each []spec) time.Duration {
	longest := 0.0
	for i := range each {
		longest = max(longest, each[i].per)
	}
	return max(time.Minute, durationOf(2*longest))
}
