package throttle

import (
	"context"
	"testing"
	"time"
)

// Steady traffic on windows is decided in the short form alone: the long one
// is not there to fall back on.
// Up to the last unit, and not one more: that the long form decides.
func TestTheShortFormFillsALimitAndNoMore(t *testing.T) {
	store, c := plainStart(t)
	for _, tt := range []struct {
		n, number int
		goes      bool
	}{{996, 2, true}, {1, 3, false}, {2, 4, false}} {
		c.runs[0].n, c.number, c.runs[0].cost = tt.n, float64(tt.number), []float64{1, 1, 1}
		if _, err := shortForm(t, store, &c); (err == nil) != tt.goes {
			t.Errorf("%d calls beside what is used: %v", tt.n, err)
		}
	}
}

func TestSteadyTrafficIsDecidedInTheShortForm(t *testing.T) {
	store, c := plainStart(t)
	at := c.settles[0].at
	for n := 2.0; n < 20; n++ {
		c.number = n
		ans, err := shortForm(t, store, &c)
		if err != nil || ans.now <= at || ans.used[0] != 4*n || ans.used[1] != 40*n-5*(n-1) || ans.used[2] != 4*n || ans.epochs != [2]string{} {
			t.Fatalf("claim %v: %+v, %v", n, ans, err)
		}
	}
}

// plainStart returns a store in which a claim was made, and the one that
// follows it: four calls and a settlement of the first.
func plainStart(t *testing.T) (*RedisStore, claim) {
	t.Helper()
	store := redisStore(t)
	c := claim{
		account: "plain", budget: "b", limits: windowSpecs(t), own: 2, every: 1000, birth: newEpoch(),
		keys: []Fingerprint{"k"}, models: []modelID{"m"}, process: "process-0001", number: 1,
		runs: []run{{n: 4, cost: []float64{1, 10, 1}}},
	}
	first, err := store.claim(context.Background(), &c)
	if err != nil {
		t.Fatal(err)
	}
	c.knows, c.settles = first.epochs, []settlement{{at: first.now, delta: []float64{0, -5, 0}}}
	return store, c
}

// shortForm makes a claim whose long form is not there to fall back on.
func shortForm(t *testing.T, store *RedisStore, c *claim) (answer, error) {
	t.Helper()
	var p packer
	if !p.plain(c) {
		t.Fatal("the claim isn't plain")
	}
	reply, err := store.run(context.Background(), store.shards.whole, store.keys.of(c), "", store.keys.events(), p.buf)
	if err != nil {
		return answer{}, err
	}
	u := unpacker{buf: []byte(reply)}
	return u.answer(c)
}

func windowSpecs(t *testing.T) []spec {
	c := Config{Lanes: nil}.withDefaults()
	own := compileLimits([]Limit{Requests(1000, time.Hour), Tokens(10_000, time.Hour).Using(FixedWindow)}, c.Lanes, "plain")
	return append(own, compileLimits([]Limit{Requests(5000, 24*time.Hour)}, c.Lanes, "plain!")...)
}

// The same random claims on both stores, where most are plain: windows of some
// milliseconds that turn, fill up and are settled late.
func FuzzPlainClaimsAgree(f *testing.F) {
	for seed := range uint64(24) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { agree(t, seed, true) })
}

// calmDown makes a claim plain, most of the time.
func (g *claimMaker) calmDown(c *claim) {
	if !g.calm || g.rand.IntN(10) == 0 {
		return
	}
	c.verdict, c.lease, c.restore, c.floors, c.dry, c.held = nil, nil, nil, nil, false, 0
	if c.states = nil; g.rand.IntN(6) == 0 {
		for i := range c.keys {
			c.states = append(c.states, keyView{gen: g.gens[i] + float64(g.rand.IntN(2))})
		}
	}
	c.runs = c.runs[:min(len(c.runs), 1+g.rand.IntN(2))]
	for i := range c.runs {
		r := &c.runs[i]
		r.n = 1 + g.rand.IntN(2)
		r.hold, r.holds, r.pauses, r.patience = false, "", [2]float64{}, 0
	}
	if g.rand.IntN(4) > 0 {
		c.knows = g.epochs
	}
}
