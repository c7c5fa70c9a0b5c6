package throttle

import (
	"fmt"
	"log/slog"
	"maps"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/probe"
)

// DefaultQueueLimit is how many calls may wait per budget and process where
// Config.QueueLimit is 0.
const DefaultQueueLimit = 10_000

// Config is everything that a Throttle is built from. The zero Config is
// usable: no budgets, so no limits, with pauses and key state held in memory.
type Config struct {
	// Store holds what the fleet shares. nil: a MemoryStore of its own.
	Store Store
	// Budgets are tried in order; the first whose Models match decides. A
	// model that none matches has no limits of its own, which is logged once
	// per model; Account, pauses and key state hold for it too.
	Budgets []Budget
	// Account is limits over the whole account, all models together.
	Account []Limit
	// Lanes are the classes of callers, highest priority first. nil:
	// lanes.Live and lanes.Background.
	Lanes []lanes.Lane
	// Pause bounds the vendor's "slow down". Zero: 30 s if the vendor names no
	// time, at most 5 min.
	Pause pause.Policy
	// Probe says how a refused key is tried again. Zero: a caller's request
	// every 5 min.
	Probe probe.Policy
	// Lease claims units ahead. Zero: off.
	Lease leasing.Policy
	// Outage is what happens to calls while the store is out of reach. Zero:
	// OutageLocal.
	Outage Outage
	// LaneOutage names a mode for lanes, by their names. The strictest of lane,
	// budget and Config that is named wins: to open one lane, leave Outage
	// unnamed.
	LaneOutage map[string]Outage
	// Instances is the fleet size to assume while it can't be counted. 0: the
	// last count, else 1.
	Instances int
	// QueueLimit is how many calls may wait per budget and process. 0:
	// DefaultQueueLimit.
	QueueLimit int
	// DryRun decides and reports, and denies and delays nothing: every budget is
	// run dry. Refused keys are probed by callers' requests, whatever Probe.Send
	// is. See the package's section on dry runs.
	DryRun bool
	// Logger gets one line per change of state, and one about the first denial of
	// a budget and a reason in a window, a minute at least; never one per call. nil:
	// slog.Default().
	Logger *slog.Logger
	// Observe is called on every decision and change of state, from whatever
	// goroutine made it. It must not block. nil: nobody is told.
	Observe func(Event)
}

// withDefaults returns a copy with every zero field that has a default filled
// in. It copies the slices, so that the caller may change its own.
func (c Config) withDefaults() Config {
	if c.Store == nil {
		c.Store = NewMemoryStore()
	}
	if c.Lanes == nil {
		c.Lanes = lanes.Default()
	} else {
		c.Lanes = append([]lanes.Lane(nil), c.Lanes...)
	}
	c.Budgets = append([]Budget(nil), c.Budgets...)
	for i := range c.Budgets {
		b := &c.Budgets[i]
		b.Name = b.name()
		b.Models = append([]string(nil), b.Models...)
		b.Limits = append([]Limit(nil), b.Limits...)
		b.Tenants.Limits = append([]Limit(nil), b.Tenants.Limits...)
	}
	c.Account = append([]Limit(nil), c.Account...)
	c.LaneOutage = maps.Clone(c.LaneOutage)
	c.Pause = c.Pause.WithDefaults()
	c.Probe = c.Probe.WithDefaults()
	if c.QueueLimit == 0 {
		c.QueueLimit = DefaultQueueLimit
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// validate reports the first field that is out of range or not built yet.
func (c Config) validate() error {
	for _, check := range []func() error{
		c.validateStore, c.validateBudgets, c.validateLanes, c.validatePolicies, c.validateOutage,
	} {
		if err := check(); err != nil {
			return fmt.Errorf("throttle: Config.%w", err)
		}
	}
	return nil
}

// validateStore refuses a store that would only panic at its first call.
func (c Config) validateStore() error {
	switch s := c.Store.(type) {
	case *MemoryStore:
		if s == nil || s.accounts == nil {
			return fmt.Errorf("Store is no store: want one of NewMemoryStore")
		}
	case *RedisStore:
		if s == nil || s.client == nil {
			return fmt.Errorf("Store is no store: want one of NewRedisStore")
		}
	}
	return nil
}

func (c Config) validateBudgets() error {
	seen := map[string]int{}
	for i, b := range c.Budgets {
		if err := b.validate(); err != nil {
			return fmt.Errorf("Budgets[%d].%w", i, err)
		}
		if j, dup := seen[b.name()]; dup {
			return fmt.Errorf("Budgets[%d].Name: %q is the name of Budgets[%d] too", i, b.name(), j)
		}
		if n := len(b.Limits) + len(c.Account); n > maxLimits {
			return fmt.Errorf("Budgets[%d].Limits: with Account's there are %d, want at most %d", i, n, maxLimits)
		}
		if n := len(b.Limits) + len(c.Account) + len(b.Tenants.limits(b.Limits)); n > maxLimits {
			return fmt.Errorf("Budgets[%d].Tenants: with Limits and Account's there are %d limits, want at most %d", i, n, maxLimits)
		}
		seen[b.name()] = i
	}
	if n := len(c.Account); n > maxLimits {
		return fmt.Errorf("Account: there are %d limits, want at most %d", n, maxLimits)
	}
	return validateLimits("Account", c.Account)
}

// maxLanes is how many lanes there may be: sets of them are kept in 64 bits.
const maxLanes = 64

func (c Config) validateLanes() error {
	if c.Lanes == nil {
		return nil
	}
	if len(c.Lanes) == 0 {
		return fmt.Errorf("Lanes is empty but not nil")
	}
	if len(c.Lanes) > maxLanes {
		return fmt.Errorf("Lanes: there are %d, want at most %d", len(c.Lanes), maxLanes)
	}
	seen := map[string]int{}
	for i, l := range c.Lanes {
		if err := l.Validate(); err != nil {
			return fmt.Errorf("Lanes[%d].%w", i, err)
		}
		if j, dup := seen[l.Name]; dup {
			return fmt.Errorf("Lanes[%d].Name: %q is the name of Lanes[%d] too", i, l.Name, j)
		}
		seen[l.Name] = i
	}
	return nil
}

func (c Config) validatePolicies() error {
	if err := c.Pause.Validate(); err != nil {
		return fmt.Errorf("Pause.%w", err)
	}
	if err := c.Probe.Validate(); err != nil {
		return fmt.Errorf("Probe.%w", err)
	}
	if err := c.Lease.Validate(); err != nil {
		return fmt.Errorf("Lease.%w", err)
	}
	switch {
	case c.QueueLimit < 0:
		return fmt.Errorf("QueueLimit is %d, want 0 or more", c.QueueLimit)
	case c.Instances < 0:
		return fmt.Errorf("Instances is %d, want 0 or more", c.Instances)
	}
	return nil
}

func (c Config) validateOutage() error {
	if c.Outage > OutageClosed {
		return fmt.Errorf("Outage is %d, which doesn't exist", c.Outage)
	}
	known := c.Lanes
	if known == nil {
		known = lanes.Default()
	}
	for name, o := range c.LaneOutage {
		if o > OutageClosed {
			return fmt.Errorf("LaneOutage[%q] is %d, which doesn't exist", name, o)
		}
		found := false
		for _, l := range known {
			found = found || l.Name == name
		}
		if !found {
			return fmt.Errorf("LaneOutage[%q]: there is no lane of that name", name)
		}
	}
	return nil
}
