package throttle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/lanes"
)

// The same random claims go to Redis and to the memory store, which is given
// the server's time of each answer: every answer must be the same to the last
// microsecond.
func FuzzStoresAgree(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { agree(t, seed, false) })
}

func agree(t *testing.T, seed uint64, calm bool) {
	g := &claimMaker{rand: rand.New(rand.NewPCG(seed, 1)), calm: calm}
	g.configure(t, fmt.Sprintf("%s/%d", t.Name(), seed))
	store := redisStore(t)
	memory := NewMemoryStore()
	for step := range 150 {
		c := g.next()
		got, err := store.claim(context.Background(), &c)
		at := got.now
		if err != nil {
			at = g.lastAt
		}
		want, _, _, wantErr := memory.decide(&c, at)
		if err != nil || wantErr != nil {
			if err == nil || wantErr == nil || strings.TrimPrefix(err.Error(), "headgate: ") != strings.TrimPrefix(wantErr.Error(), "headgate: ") {
				t.Fatalf("seed %d, step %d: redis %v, memory %v", seed, step, err, wantErr)
			}
			continue
		}
		if !equalAnswers(got, want) {
			t.Fatalf("seed %d, step %d: the stores disagree\nclaim  %+v\nredis  %+v\nmemory %+v", seed, step, c, got, want)
		}
		g.remember(&c, &got)
	}
}

func equalAnswers(a, b answer) bool {
	if a.now != b.now || a.budget != b.budget || a.account != b.account || len(a.outcomes) != len(b.outcomes) {
		return false
	}
	for i := range a.outcomes {
		if len(a.outcomes[i])+len(b.outcomes[i]) > 0 && !reflect.DeepEqual(a.outcomes[i], b.outcomes[i]) {
			return false
		}
	}
	return a.leased == b.leased && a.epochs == b.epochs &&
		slices.Equal(a.used, b.used) && slices.EqualFunc(a.tenants, b.tenants, slices.Equal[[]float64]) && slices.EqualFunc(a.lanes, b.lanes, slices.Equal[[]float64]) &&
		slices.Equal(a.keys, b.keys)
}

// redisStore returns a store on the shared server with a prefix of its own.
// Its timeout is generous: these tests are about decisions, not about time.
func redisStore(t testing.TB) *RedisStore {
	t.Helper()
	return redisStoreOn(t, redistest.Shared(t))
}

func redisStoreOn(t testing.TB, server *redistest.Server) *RedisStore {
	t.Helper()
	store, err := NewRedisStore(server.Client(t), RedisOptions{Prefix: "test-" + newProbeID()[:8], Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// A claimMaker makes random claims of a random configuration. Windows are a
// few milliseconds long, so that they turn while the test runs.
type claimMaker struct {
	rand    *rand.Rand
	account string
	limits  []spec
	own     int
	tenants int // how many limits each tenant has of its own
	lanes   int
	charges []charge
	gens    map[int]float64
	probes  []string
	number  float64
	last    claim
	lastAt  float64
	epochs  [2]string
	calm    bool // most claims are plain
}

type charge struct {
	at     float64
	cost   []float64
	tenant string
}

func (g *claimMaker) configure(t *testing.T, account string) {
	ls := []lanes.Lane{lanes.Live, lanes.Background, {Name: "third", Share: 0.29}}[:1+g.rand.IntN(3)]
	g.account, g.lanes, g.gens = account, len(ls), map[int]float64{}
	g.own = g.rand.IntN(4)
	own := compileLimits(g.someLimits(t, g.own), ls, account)
	g.limits = append(own, compileLimits(g.someLimits(t, g.rand.IntN(3)), ls, account+"!")...)
	if g.rand.IntN(2) == 0 {
		g.tenants = 1 + g.rand.IntN(2)
		each := slices.DeleteFunc(g.someLimits(t, g.tenants), func(l Limit) bool { return l.Unit == UnitInFlight })
		g.tenants = len(each)
		g.limits = append(g.limits, compileLimits(each, ls, account+"?")...)
	}
}

func (g *claimMaker) shared() int { return len(g.limits) - g.tenants }

// someTenant is one of the claim's, and its place; "", 0: none.
func (g *claimMaker) someTenant(c *claim) (string, int) {
	if len(c.tenants) == 0 || g.rand.IntN(4) == 0 {
		return "", 0
	}
	i := g.rand.IntN(len(c.tenants))
	return c.tenants[i].name, i + 1
}

// costOf is a cost with units of a tenant's own limits only where there is one.
func (g *claimMaker) costOf(tenant string) []float64 {
	cost := g.cost()
	if tenant == "" {
		clear(cost[g.shared():])
	}
	return cost
}

func (g *claimMaker) someLimits(t *testing.T, n int) []Limit {
	limits := make([]Limit, n)
	for i := range limits {
		l := Limit{
			Unit: Unit(i), Amount: 1 + g.rand.Int64N(40), Per: time.Duration(1+g.rand.IntN(60)) * time.Millisecond,
			Algorithm: Algorithm(g.rand.IntN(len(algorithmNames))),
		}
		if g.calm {
			l.Algorithm = Algorithm(g.rand.IntN(2))
		}
		switch {
		case g.rand.IntN(3) == 0:
			l.Amount *= 100 // enough for a ramp to let several go
		case g.rand.IntN(8) == 0:
			l.Amount = MaxAmount - g.rand.Int64N(1000)
		case g.rand.IntN(8) == 0:
			l.Per = MaxPer
		}
		if (l.Algorithm == TokenBucket || l.Algorithm == GCRA) && g.rand.IntN(2) == 0 {
			l.Burst = 1 + g.rand.Int64N(60)
		}
		if l.Algorithm <= FixedWindow && g.rand.IntN(2) == 0 {
			l.Offset = -1
		}
		if err := l.validate(); err != nil {
			t.Fatal(err)
		}
		if !g.calm && g.rand.IntN(6) == 0 && !slices.ContainsFunc(limits[:i], func(m Limit) bool { return m.Unit == UnitInFlight }) {
			l = InFlight(1 + g.rand.Int64N(8))
		}
		limits[i] = l
	}
	return limits
}

func (g *claimMaker) next() claim {
	if g.number = max(g.number, 1); g.number > 1 && g.rand.IntN(12) == 0 {
		c := g.last // it arrives again
		if g.rand.IntN(2) == 0 {
			c.number = 1 // an older one, of which there is no other
		}
		return c
	}
	g.number++
	g.last = g.fresh()
	g.calmDown(&g.last)
	g.last.process, g.last.number = fmt.Sprint("process", g.rand.IntN(2), "-", g.rand.IntN(2)), g.number
	if !g.calm && g.rand.IntN(10) == 0 {
		for n := 1 + g.rand.IntN(3); n > 0; n-- {
			g.last.fixes = append(g.last.fixes, g.fix(&g.last, float64(n)))
		}
	}
	return g.last
}

// fix says what became of the claim that is so many numbers back.
func (g *claimMaker) fix(c *claim, back float64) fix {
	f := fix{number: max(0, g.number-back), spent: g.cost()[:g.shared()]}
	if len(g.charges) > 0 {
		f.settles = append(f.settles, g.settlement(c))
	}
	for _, w := range c.tenants {
		if g.rand.IntN(2) == 0 {
			f.tenants = append(f.tenants, tenantSpent{w.name, g.cost()[g.shared():]})
		}
	}
	return f
}

func (g *claimMaker) fresh() claim {
	c := claim{
		account: g.account, budget: "b", limits: g.limits, own: g.own,
		every: float64(1 + g.rand.IntN(5000)),
		keys:  []Fingerprint{"key0", "key1"}, models: []modelID{"model\x000", "model\xff1"},
		dry: g.rand.IntN(10) == 0, birth: newEpoch(), held: float64(g.rand.IntN(6)), perTenant: g.tenants,
	}
	for _, i := range g.rand.Perm(4)[:g.rand.IntN(5)] {
		if g.tenants > 0 {
			name := []string{"=a", "=", overflowTenant, "=模型 {x}"}[i]
			c.tenants = append(c.tenants, claimTenant{name, g.rand.IntN(3) > 0})
		}
	}
	g.knowledge(&c)
	if g.rand.IntN(8) == 0 {
		for range g.limits[:g.shared()] {
			c.floors = append(c.floors, float64(g.rand.IntN(2)*g.rand.IntN(50)))
		}
	}
	if g.rand.IntN(3) == 0 {
		for i := range c.keys {
			c.states = append(c.states, keyView{
				gen: g.gens[i] + float64(g.rand.IntN(4)-2), refused: g.rand.IntN(2) == 0, class: KeyRefused, next: float64(g.rand.IntN(4000)),
			})
		}
	}
	if g.rand.IntN(2) == 0 {
		c.probe = newProbeID()
	}
	for range g.rand.IntN(3) {
		if len(g.charges) > 0 {
			c.settles = append(c.settles, g.settlement(&c))
		}
	}
	if g.rand.IntN(5) == 0 {
		c.verdict = g.verdict()
	}
	for lane := range g.lanes {
		for range g.rand.IntN(4) {
			c.runs = append(c.runs, g.run(&c, lane))
		}
	}
	if g.rand.IntN(4) == 0 {
		c.lease = &leaseAsk{lane: g.rand.IntN(g.lanes), n: float64(1 + g.rand.IntN(20)), divisor: float64(1 + g.rand.IntN(3)), cost: g.costOf("")}
	}
	return c
}

// knowledge is what the claim knows of its records: mostly the truth, at times
// something that was never so, with or without what follows from it.
func (g *claimMaker) knowledge(c *claim) {
	for i, epoch := range g.epochs {
		switch g.rand.IntN(8) {
		case 0:
			c.knows[i] = "another"
		case 1, 2, 3:
			c.knows[i] = epoch
		}
	}
	if g.rand.IntN(3) > 0 {
		return
	}
	r := &restoration{}
	for i := range g.limits[:g.shared()] {
		r.counts = append(r.counts, g.known(&g.limits[i]))
	}
	for i := range r.pauses {
		r.pauses[i] = closure{left: float64(g.rand.IntN(2) * g.rand.IntN(3000)), ramp: float64(g.rand.IntN(2000)), class: Busy}
	}
	if g.rand.IntN(2) == 0 {
		r.denied = append(r.denied, modelDenial{c.models[g.rand.IntN(2)], float64(g.rand.IntN(3000))})
	}
	c.restore = r
}

// known is a counter as a process may know it, of now or a little earlier.
func (g *claimMaker) known(s *spec) counter {
	now, units := g.lastAt-float64(g.rand.IntN(2)*g.rand.IntN(5000)), float64(g.rand.IntN(60))
	c := counter{label: s.label}
	if s.inFlight() {
		return c
	}
	c.advance(s, now)
	if c.take(s, now, units); g.rand.IntN(2) == 0 {
		c.advance(s, now+s.per)
		c.take(s, now+s.per, units)
	}
	return c
}

func (g *claimMaker) run(c *claim, lane int) run {
	tenant, place := g.someTenant(c)
	r := run{
		lane: lane, key: g.rand.IntN(2), model: g.rand.IntN(2), n: 1 + g.rand.IntN(6),
		mayProbe: g.rand.IntN(2) == 0, cost: g.costOf(tenant), tenant: place,
	}
	if g.rand.IntN(2) == 0 {
		r.patience = float64(g.rand.IntN(100_000))
	}
	if r.age = float64(g.rand.IntN(300_000)); g.rand.IntN(2) == 0 {
		r.since = max(1, g.lastAt-r.age)
	}
	if len(g.probes) > 0 && g.rand.IntN(4) == 0 {
		r.holds, r.n = g.probes[g.rand.IntN(len(g.probes))], 1
	}
	if g.rand.IntN(10) == 0 {
		r.hold, r.pauses = true, [2]float64{float64(g.rand.IntN(3)), float64(g.rand.IntN(3))}
	}
	return r
}

func (g *claimMaker) cost() []float64 {
	cost := make([]float64, len(g.limits))
	for i := range cost {
		switch g.rand.IntN(5) {
		case 0:
		case 1:
			cost[i] = float64(g.rand.IntN(80))
		default:
			cost[i] = float64(1 + g.rand.IntN(3))
		}
	}
	return cost
}

func (g *claimMaker) settlement(c *claim) settlement {
	ch := g.charges[g.rand.IntN(len(g.charges))]
	if c.placeOf(ch.tenant) == 0 && g.rand.IntN(4) > 0 {
		ch.tenant = "" // else it is one of which the claim knows nothing
	}
	if g.rand.IntN(3) == 0 {
		s := cancelled(ch.at, ch.cost)
		s.tenant = ch.tenant
		return s
	}
	s := settlement{at: ch.at, delta: make([]float64, len(ch.cost)), tenant: ch.tenant}
	for i, c := range ch.cost {
		if s.delta[i] = float64(g.rand.IntN(30)) - c; g.rand.IntN(20) == 0 {
			s.delta[i] = costCap
		}
	}
	return s
}

func (g *claimMaker) verdict() *verdictNote {
	v := &verdictNote{
		class: Class(g.rand.IntN(len(classNames))), scope: Scope(g.rand.IntN(3)),
		key: g.rand.IntN(2), model: g.rand.IntN(2), length: float64(1 + g.rand.IntN(3000)),
	}
	if g.rand.IntN(2) == 0 {
		v.ramp = float64(g.rand.IntN(5000))
	}
	v.resume, v.hasten = g.rand.IntN(8) == 0, g.rand.IntN(6) == 0
	if v.gen = g.gens[v.key]; g.rand.IntN(4) == 0 {
		v.gen--
	}
	if len(g.probes) > 0 && g.rand.IntN(2) == 0 {
		v.probe = g.probes[len(g.probes)-1]
	}
	return v
}

// remember keeps what later claims refer to.
func (g *claimMaker) remember(c *claim, a *answer) {
	g.lastAt = a.now
	for i, epoch := range a.epochs {
		if epoch != "" || c.knows[i] == "" {
			g.epochs[i] = epoch
		}
	}
	for i := range a.keys {
		g.gens[i] = a.keys[i].gen
	}
	for i, outcomes := range a.outcomes {
		for _, o := range outcomes {
			if o.code == granted || o.code == grantedKey {
				ch := charge{at: a.now, cost: c.runs[i].cost}
				if place := c.runs[i].tenant; place > 0 {
					ch.tenant = c.tenants[place-1].name
				}
				g.charges = append(g.charges, ch)
			}
			if o.code == grantedKey && c.probe != "" {
				g.probes = append(g.probes, c.probe)
			}
		}
	}
}
