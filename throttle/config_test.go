package throttle

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/pause"
	"github.com/headgate-go/headgate/probe"
)

func TestTheZeroConfigIsUsable(t *testing.T) {
	th, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer th.Close()
	p, err := th.Acquire(t.Context(), Call{Key: FingerprintOf("k"), Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	p.Done()
}

func TestDefaults(t *testing.T) {
	c := Config{Budgets: []Budget{{Models: []string{"gpt-*"}}}}.withDefaults()
	if c.Store == nil || c.Logger == nil || len(c.Lanes) != 2 || c.Lanes[0] != lanes.Live || c.Lanes[1] != lanes.Background {
		t.Errorf("%+v", c)
	}
	if c.QueueLimit != 10_000 || c.Pause.Default != 30*time.Second || c.Pause.Max != 5*time.Minute {
		t.Errorf("QueueLimit %d, Pause %+v", c.QueueLimit, c.Pause)
	}
	if c.Probe.Every != 5*time.Minute || c.Probe.Timeout != 30*time.Second || c.Budgets[0].Name != "gpt-*" {
		t.Errorf("Probe %+v, budget %q", c.Probe, c.Budgets[0].Name)
	}
	own := Config{QueueLimit: 3, Lanes: []lanes.Lane{{Name: "x", Share: 1}}, Store: NewMemoryStore()}
	if d := own.withDefaults(); d.QueueLimit != 3 || len(d.Lanes) != 1 || d.Store != own.Store {
		t.Errorf("own fields became %+v", d)
	}
}

// The caller may go on using its slices.
func TestChangingTheCallersSlicesLaterChangesNothing(t *testing.T) {
	c := Config{
		Budgets: []Budget{{Models: []string{"m"}, Limits: []Limit{Requests(1, time.Hour)}}},
		Account: []Limit{Tokens(5, time.Hour)},
		Lanes:   []lanes.Lane{{Name: "x", Share: 1}},
	}
	d := c.withDefaults()
	c.Budgets[0].Limits[0].Amount = 99
	c.Budgets[0].Models[0] = "other"
	c.Budgets[0].Name = "other"
	c.Account[0].Amount = 99
	c.Lanes[0].Name = "other"
	if b := d.Budgets[0]; b.Name != "m" || b.Models[0] != "m" || b.Limits[0].Amount != 1 {
		t.Errorf("the budget became %+v", b)
	}
	if d.Account[0].Amount != 5 || d.Lanes[0].Name != "x" {
		t.Errorf("Account %v, Lanes %v", d.Account, d.Lanes)
	}
	if c.Budgets = append(c.Budgets[:0], Budget{Name: "new"}); d.Budgets[0].Name != "m" {
		t.Error("the budgets share an array")
	}
}

func TestConfigErrorsNameTheField(t *testing.T) { // B134
	good := Budget{Models: []string{"good"}, Limits: []Limit{Requests(1, time.Hour)}}
	with := func(f func(*Budget)) Config {
		b := Budget{Models: []string{"m"}, Limits: []Limit{Requests(1, time.Hour), Tokens(1, time.Hour)}}
		f(&b)
		return Config{Budgets: []Budget{good, b}}
	}
	laneShare := func(share float64) Config {
		return Config{Lanes: []lanes.Lane{lanes.Live, {Name: "x", Share: share}}}
	}
	tests := map[string]Config{
		"Budgets[1].Limits[0].Amount":                   with(func(b *Budget) { b.Limits[0].Amount = 0 }),
		"Budgets[1].Limits[1].Per":                      with(func(b *Budget) { b.Limits[1].Per = -1 }),
		"Budgets[1].Limits[1].Unit":                     with(func(b *Budget) { b.Limits[1].Unit = 99 }),
		"Budgets[1].Models":                             with(func(b *Budget) { b.Models = nil }),
		"Budgets[1].Outage":                             with(func(b *Budget) { b.Outage = 9 }),
		"Budgets[1].Price.Output":                       with(func(b *Budget) { b.Price.Output = math.NaN() }),
		"Budgets[1].Price.Cached":                       with(func(b *Budget) { b.Price.Cached = -1 }),
		"Budgets[1].Tenants.Share is -0.5":              with(func(b *Budget) { b.Tenants.Share = -0.5 }),
		"Budgets[1].Tenants.Share is 1.5":               with(func(b *Budget) { b.Tenants.Share = 1.5 }),
		"Budgets[1].Tenants.Share is NaN":               with(func(b *Budget) { b.Tenants.Share = math.NaN() }),
		"Budgets[1].Tenants.Max is -1":                  with(func(b *Budget) { b.Tenants.Max = -1 }),
		"Budgets[1].Tenants.Limits[0].Amount":           with(func(b *Budget) { b.Tenants.Limits = []Limit{Requests(0, time.Hour)} }),
		"Budgets[1].Tenants.Limits[1]: counts":          with(func(b *Budget) { b.Tenants.Limits = []Limit{Requests(1, time.Hour), Requests(2, time.Hour)} }),
		"Budgets[1].Tenants.Limits[0].Unit":             with(func(b *Budget) { b.Tenants.Limits = []Limit{InFlight(2)} }),
		"Budgets[1].Name":                               with(func(b *Budget) { b.Name = "good" }),
		"Budgets[1].Limits[1]: counts":                  with(func(b *Budget) { b.Limits[1] = Requests(50, time.Hour) }),
		"Account[0].Amount":                             {Account: []Limit{Requests(-1, time.Hour)}},
		"Account[1]: counts":                            {Account: []Limit{Requests(1, time.Hour), Requests(2, time.Hour)}},
		"Lanes is empty":                                {Lanes: []lanes.Lane{}},
		"Lanes[1].Share is 0":                           laneShare(0),
		"Lanes[1].Share is 1.5":                         laneShare(1.5),
		"Lanes[1].Share is NaN":                         laneShare(math.NaN()),
		"Lanes[0].Name is empty":                        {Lanes: []lanes.Lane{{Share: 1}}},
		"Lanes[2].Name":                                 {Lanes: append(lanes.Default(), lanes.Live)},
		"Pause.Default":                                 {Pause: pause.Policy{Default: -1}},
		"Probe.Timeout":                                 {Probe: probe.Policy{Timeout: time.Hour}},
		"Store is no store: want one of NewMemoryStore": {Store: &MemoryStore{}},
		"Store is no store: want one of NewRedisStore":  {Store: (*RedisStore)(nil)},
		"Lease.Chunk":                                   {Lease: leasing.Policy{Chunk: -1}},
		"QueueLimit":                                    {QueueLimit: -1},
		"Instances":                                     {Instances: -1},
		"Outage is 4":                                   {Outage: 4},
		`LaneOutage["nobody"]`:                          {LaneOutage: map[string]Outage{"nobody": OutageOpen}},
		`LaneOutage["live"]`:                            {LaneOutage: map[string]Outage{"live": 4}},
		`LaneOutage["background"]: there`:               {LaneOutage: map[string]Outage{"background": OutageOpen}, Lanes: []lanes.Lane{lanes.Live}},
	}
	for want, c := range tests {
		_, err := New(c)
		if err == nil || !strings.HasPrefix(err.Error(), "throttle: Config."+want) {
			t.Errorf("%v, want an error about %s", err, want)
		}
		if errors.Is(err, ErrNotBuilt) {
			t.Errorf("%v, which sounds as if it would come", err)
		}
	}
}

func TestEveryTenantFieldAsksForTenants(t *testing.T) {
	for name, p := range map[string]TenantPolicy{
		"share": {Share: 0.1}, "limits": {Limits: []Limit{Requests(1, time.Hour)}},
		"weight": {Weight: func(string) int { return 1 }}, "max": {Max: 1},
	} {
		if p.off() {
			t.Errorf("%s alone is off", name)
		}
	}
	if !(TenantPolicy{}).off() {
		t.Error("the zero policy is on")
	}
}

func TestLimitsThatDifferInUnitWindowOrAlgorithmGoTogether(t *testing.T) {
	_, err := New(Config{Budgets: []Budget{{Models: []string{"m"}, Limits: []Limit{
		Requests(1, time.Minute), Requests(1, time.Hour), Tokens(1, time.Minute), Requests(1, time.Minute).Using(TokenBucket),
	}}}, Account: []Limit{Requests(1, time.Minute)}})
	if err != nil {
		t.Error(err)
	}
}

func TestMoreLimitsThanASetHoldsAreRefused(t *testing.T) {
	var ls []Limit
	for i := range maxLimits + 1 {
		ls = append(ls, Requests(1, time.Duration(i+1)*time.Second))
	}
	if _, err := New(Config{Budgets: []Budget{{Models: []string{"m"}, Limits: ls}}}); err == nil || !strings.Contains(err.Error(), "Budgets[0].Limits") {
		t.Errorf("33 limits: %v", err)
	}
}

func TestChangingTheCallersLaneOutageLaterChangesNothing(t *testing.T) {
	c := Config{LaneOutage: map[string]Outage{"live": OutageClosed}}
	d := c.withDefaults()
	c.LaneOutage["live"] = OutageOpen
	if d.LaneOutage["live"] != OutageClosed {
		t.Error("the map is the caller's")
	}
}
