package throttle

import (
	"fmt"
	"strings"
)

// A Budget is a set of limits that the calls to some models share. All limits
// must have room for a call to go.
type Budget struct {
	// Name names the budget in errors, events and the store. "": Models[0].
	Name string
	// Models are the names that the budget is for, exact or as patterns in
	// which * stands for any characters, "/" included. At least one.
	Models []string
	// PerModel gives each matched model a budget and a pause of its own; else
	// all matched models share one.
	PerModel bool
	// Limits must all have room. Empty: calls are not limited, but pauses and
	// key state hold.
	Limits []Limit
	// Learn takes limits from the vendor's headers: the last figure that the
	// vendor gave counts, in the window that it named, or a minute. Limits is the
	// start. Without any, few calls of this process are in flight until the
	// vendor has reported one: one at first, twice as many with every answer.
	Learn bool
	// DryRun decides and reports, and denies and delays no call of the budget:
	// not for its own limits, nor for the account's, a pause or a refused key. See
	// the package's section on dry runs.
	DryRun bool
	// Outage is what happens to the budget's calls while the store is out of
	// reach. The strictest of lane, budget and Config that is named wins.
	Outage Outage
	// Price turns tokens and calls into money for Dollars limits.
	Price Price
	// Tenants shares the budget out among tenants.
	Tenants TenantPolicy

	free bool // stands for a model that no budget matches
}

// An Outage says what happens to calls while the store is out of reach.
type Outage uint8

const (
	OutageDefault Outage = iota // the wider setting, finally OutageLocal
	OutageLocal                 // each process enforces its part of the budget by itself
	OutageOpen                  // calls go out unlimited
	OutageClosed                // calls are denied with ErrStore
)

// name returns Name or what stands for it.
func (b Budget) name() string {
	if b.Name == "" && len(b.Models) > 0 {
		return b.Models[0]
	}
	return b.Name
}

// matches reports whether the budget is for the model.
func (b Budget) matches(model string) bool {
	for _, p := range b.Models {
		if matchPattern(p, model) {
			return true
		}
	}
	return false
}

// matchPattern reports whether s is p, in which * stands for any characters.
func matchPattern(p, s string) bool {
	head, rest, wild := strings.Cut(p, "*")
	if !wild {
		return p == s
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	s = s[len(head):]
	for {
		part, tail, more := strings.Cut(rest, "*")
		if !more {
			return strings.HasSuffix(s, part)
		}
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s, rest = s[i+len(part):], tail
	}
}

// validate reports the first field that is out of range or not built yet.
func (b Budget) validate() error {
	if len(b.Models) == 0 {
		return fmt.Errorf("Models is empty")
	}
	switch {
	case strings.ContainsAny(b.Name, "\x00\x01"):
		return fmt.Errorf("Name is %q, want no control characters 0 and 1", b.Name)
	case b.Outage > OutageClosed:
		return fmt.Errorf("Outage is %d, which doesn't exist", b.Outage)
	}
	if err := b.Price.validate(); err != nil {
		return fmt.Errorf("Price.%w", err)
	}
	if err := b.Tenants.validate(); err != nil {
		return fmt.Errorf("Tenants.%w", err)
	}
	return validateLimits("Limits", b.Limits)
}

func validateLimits(field string, limits []Limit) error {
	for i, l := range limits {
		if err := l.validate(); err != nil {
			return fmt.Errorf("%s[%d].%w", field, i, err)
		}
		for j, m := range limits[:i] {
			if l.sameCounter(m) {
				return fmt.Errorf("%s[%d]: counts the same unit, window and algorithm as %s[%d]", field, i, field, j)
			}
		}
	}
	return nil
}
