package throttle

import (
	"context"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/headgate-go/headgate/lanes"
)

// An outage is the time while the store is out of reach. The first failure
// opens it, and from then on no call goes to the store: each is decided by its
// outage mode here, until a test in the background finds the store again.
//
// The local mode runs the same decisions on a store in memory, with this
// process's part of every limit. It is kept from one outage to the next, so
// that a store which comes and goes hands out nothing extra.
type outage struct {
	t     *Throttle
	local *MemoryStore

	mu    sync.Mutex
	since time.Time // zero: the store is there
	cause error
	kept  []keptVerdict
}

// A keptVerdict is one that couldn't be written when it was given.
type keptVerdict struct {
	claim claim
	at    time.Time
}

// maxKept bounds the verdicts kept during an outage; the oldest go first.
const maxKept = 1000

func newOutage(t *Throttle) *outage { return &outage{t: t, local: NewMemoryStore()} }

// down reports whether the store is out of reach.
func (o *outage) down() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.since.IsZero()
}

// failed notes a failure of the store, and starts the outage if it is the
// first.
func (o *outage) failed(err error) {
	o.mu.Lock()
	if !o.since.IsZero() || o.t.closed.Load() {
		o.mu.Unlock()
		return
	}
	o.since, o.cause = time.Now(), err
	o.t.loops.Add(1)
	o.mu.Unlock()
	o.t.tellOutage(true, err, 0)
	go o.retest()
}

// retest asks the store for a decision that changes nothing, again and again
// with jitter, until it answers or the throttle is closed.
func (o *outage) retest() {
	defer o.t.loops.Done()
	b := backoff.NewExponentialBackOff(
		backoff.WithInitialInterval(50*time.Millisecond),
		backoff.WithMaxInterval(time.Second),
		backoff.WithMaxElapsedTime(0),
	)
	err := backoff.Retry(func() error {
		ctx, cancel := context.WithTimeout(o.t.done, verdictWait)
		defer cancel()
		_, err := o.t.store.claim(ctx, &claim{account: "retest", budget: "retest", dry: true})
		return err
	}, backoff.WithContext(b, o.t.done))
	if err == nil {
		o.over()
	}
}

// over ends the outage: the verdicts that were kept are written, and those
// who wait ask the store again.
func (o *outage) over() {
	o.mu.Lock()
	lasted, kept := time.Since(o.since), o.kept
	o.since, o.cause, o.kept = time.Time{}, nil, nil
	o.mu.Unlock()
	o.t.tellOutage(false, nil, lasted)
	for _, k := range kept {
		k.write(o.t)
	}
	for _, q := range o.t.allQueues() {
		q.mu.Lock()
		q.due, q.pushed = true, true
		q.kick()
	}
}

// keep holds a verdict for when the store is back.
func (o *outage) keep(c claim, at time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.kept) >= maxKept {
		o.kept = o.kept[1:]
	}
	o.kept = append(o.kept, keptVerdict{c, at})
}

// write writes what is left of a kept verdict.
func (k keptVerdict) write(t *Throttle) {
	v := *k.claim.verdict
	if v.length > 0 {
		if v.length -= microsOf(time.Since(k.at)); v.length <= 0 {
			return
		}
	}
	k.claim.verdict = &v
	_, _ = t.write(k.claim) // one that fails again is kept again
}

// mode is what happens to a lane's calls of a queue during an outage: the
// strictest that is named.
func (o *outage) mode(q *queue, lane int) Outage {
	strictest := OutageDefault
	for _, m := range []Outage{o.t.cfg.LaneOutage[o.t.cfg.Lanes[lane].Name], q.outage, o.t.cfg.Outage} {
		if m.strictness() > strictest.strictness() {
			strictest = m
		}
	}
	if strictest == OutageDefault {
		return OutageLocal
	}
	return strictest
}

func (m Outage) strictness() int {
	return [...]int{OutageDefault: 0, OutageOpen: 1, OutageLocal: 2, OutageClosed: 3}[m]
}

// decide answers a claim by each lane's mode.
func (o *outage) decide(q *queue, b *batch) answer {
	c := b.claim
	c.settles, c.fixes, c.number = nil, nil, 0 // the store's, not ours
	c.limits = o.part(q)
	c.runs = nil
	var places []int
	ans := answer{local: true, outcomes: make([][]outcome, len(b.claim.runs)), keys: make([]keyView, len(c.keys))}
	for i, r := range b.claim.runs {
		all := func(code outcomeCode) { ans.outcomes[i] = []outcome{{code: code, n: r.n}} }
		switch mode := o.mode(q, r.lane); {
		case r.mayProbe || r.holds != "":
			// Who may probe can't be agreed on now.
			all(deniedKey)
		case mode == OutageOpen && !r.hold:
			all(granted)
		case mode == OutageClosed && !r.hold:
			all(deniedStore)
		default:
			c.runs, places = append(c.runs, r), append(places, i)
		}
	}
	local, _, _, _ := o.local.decide(&c, -1)
	ans.now = local.now
	for j, i := range places {
		ans.outcomes[i] = local.outcomes[j]
	}
	for i, k := range c.keys {
		ans.keys[i].gen = q.a.keyNow(k).gen
	}
	return ans
}

// settle corrects a charge made during an outage, where it was made.
func (o *outage) settle(q *queue, s settlement) {
	o.local.decide(&claim{account: q.a.id, budget: q.id, limits: o.part(q), own: q.own, settles: []settlement{s}}, -1)
}

// part is this process's part of a queue's limits.
func (o *outage) part(q *queue) []spec {
	rank, live := o.t.store.fleet()
	if n := o.t.cfg.Instances; n > 0 {
		live = n
	}
	live = max(1, live)
	rank %= live
	parts := make([]spec, len(q.limits))
	for i, s := range q.limits {
		s.amount, s.burst = partOf(s.amount, rank, live), partOf(s.burst, rank, live)
		s.ceilings = append([]ceiling(nil), s.ceilings...)
		for j := range s.ceilings {
			l := &s.ceilings[j]
			l.amount, l.burst = partOf(l.amount, rank, live), partOf(l.burst, rank, live)
		}
		parts[i] = s
	}
	return parts
}

// partOf is the part of process rank of live: together they are the whole.
func partOf(amount float64, rank, live int) float64 {
	a, i, n := int64(amount), int64(rank), int64(live)
	// Taken apart so that nothing overflows: a is q*n + r.
	q, r := a/n, a%n
	return float64(q + r*(i+1)/n - r*i/n)
}

func laneName(ctx context.Context) string {
	l, _ := lanes.From(ctx)
	return l.Name
}

// decide brings a batch to the store, or answers it here while that is out of
// reach. The error of a closed throttle is the only one.
func (t *Throttle) decide(q *queue, b *batch) (answer, error) {
	if !t.outage.down() {
		ans, err := t.store.claim(context.Background(), &b.claim)
		if err == nil {
			return ans, nil
		}
		t.outage.failed(err)
		ans = t.outage.decide(q, b)
		ans.unknown = &fix{number: b.claim.number, settles: b.claim.settles}
		return ans, nil
	}
	ans := t.outage.decide(q, b)
	// Its settlements were not sent.
	ans.unknown = &fix{settles: b.claim.settles}
	return ans, nil
}
