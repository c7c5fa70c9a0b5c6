package throttle

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/redis/go-redis/v9"
)

// An outage is the time while the store, or the part of it where an account
// lives, is out of reach. It opens when a connection is refused or breaks, when
// the server says that it can't serve, or when nothing was answered for as long
// as one claim may take; a single late answer among others in time decides its
// own claim here and no more. From then on no call goes to that part of the
// store: each is decided by its outage mode, until a test in the background
// finds that it takes writes again.
type outage struct {
	t      *Throttle
	local  *MemoryStore
	jitter float64     // of the time between two tests
	whole  bool        // all spending is booked, however old it is
	lasts  atomic.Bool // of any part

	mu        sync.Mutex
	absences  map[string]*absence // by the part of the store, see Store.shard
	scolded   time.Time           // when an error of the store that is no outage was last logged
	kept      map[keptID]keptVerdict
	rewriting bool // what is kept is about to be written
}

// An absence is what is known of a part of the store that is, or was, out of
// reach. It is guarded by the outage's mu but for intervals, which the one test
// in the background has to itself.
type absence struct {
	shard     string
	account   string    // one that lives there, on which it is tested
	since     time.Time // zero: it is there
	ended     time.Time // the last time
	nth       int       // how many there have been
	returns   bool      // it is there, but only told: see outage_return.go
	hints     chan struct{}
	cause     error
	intervals *backoff.ExponentialBackOff
	told      tellings
}

// calmAfter is how long the store must have been there for the next outage to
// be tested as eagerly as a first one.
const calmAfter = 5 * time.Second

func newOutage(t *Throttle) *outage {
	return &outage{
		t: t, local: NewMemoryStore(), kept: map[keptID]keptVerdict{}, absences: map[string]*absence{},
		jitter: backoff.DefaultRandomizationFactor,
	}
}

// absenceLocked returns what is known of a part of the store.
func (o *outage) absenceLocked(shard string) *absence {
	a := o.absences[shard]
	if a == nil {
		a = &absence{shard: shard, hints: make(chan struct{}, 1), intervals: backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(50*time.Millisecond),
			backoff.WithMaxInterval(time.Second),
			backoff.WithMaxElapsedTime(0),
			backoff.WithRandomizationFactor(o.jitter),
		)}
		o.absences[shard] = a
	}
	return a
}

// shut returns once no outage can start any more: the throttle is closed.
func (o *outage) shut() {
	o.mu.Lock()
	defer o.mu.Unlock()
}

// down reports whether the account's part of the store is out of reach.
func (o *outage) down(account string) bool {
	if !o.lasts.Load() {
		return false
	}
	shard := o.t.store.shard(account)
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.awayLocked("") || o.awayLocked(shard)
}

func (o *outage) awayLocked(shard string) bool {
	a := o.absences[shard]
	return a != nil && !a.since.IsZero()
}

// lastingLocked returns the parts that are out of reach, the first that was
// first.
func (o *outage) lastingLocked() (lasting []*absence) {
	for _, a := range o.absences {
		if !a.since.IsZero() {
			lasting = append(lasting, a)
		}
	}
	slices.SortFunc(lasting, func(a, b *absence) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.shard, b.shard))
	})
	return lasting
}

// A lateError is a claim that wasn't answered in time.
type lateError struct {
	silent bool // nor was anything else, for as long as a claim may take
	err    error
}

func (e *lateError) Error() string { return "headgate: Redis didn't answer in time: " + e.err.Error() }
func (e *lateError) Unwrap() error { return e.err }

// failed notes that a claim for an account got no decision, and starts an
// outage if that shows one.
func (o *outage) failed(account string, err error) {
	shard, shown := o.t.store.shard(account), shownBy(err)
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	switch closed := o.t.closed.Load(); {
	case o.awayLocked("") || o.awayLocked(shard):
	case !shown && !closed:
		o.scoldLocked(err, now)
	case shown:
		a := o.absenceLocked(shard)
		if now.Sub(a.ended) > calmAfter {
			a.intervals.Reset()
		}
		a.since, a.cause, a.account, a.returns = now, err, account, false
		a.nth++
		o.lasts.Store(true)
		if !closed { // else nobody waits for its end, and Close tries no other queue in vain
			o.t.loops.Add(1)
			go o.retest(a)
		}
	}
}

// scoldLocked logs an error that is no outage, once a minute.
func (o *outage) scoldLocked(err error, now time.Time) {
	if now.Sub(o.scolded) > time.Minute {
		o.scolded = now
		o.t.cfg.Logger.Warn("headgate: the store didn't decide a claim, so it was decided here", "err", err)
	}
}

// shownBy reports whether an error shows that the store is out of reach.
func shownBy(err error) bool {
	var late *lateError
	if errors.As(err, &late) {
		return late.silent
	}
	var said redis.Error
	if !errors.As(err, &said) {
		return true
	}
	for _, word := range cannotServe {
		if strings.HasPrefix(said.Error(), word) || strings.Contains(said.Error(), "-"+word+" ") {
			return true
		}
	}
	return false // about this claim alone
}

// cannotServe are the beginnings of a server's errors that would be the same
// for every claim.
var cannotServe = []string{
	"LOADING", "READONLY", "OOM", "BUSY", "MISCONF", "NOREPLICAS", "MASTERDOWN", "CLUSTERDOWN",
	"NOAUTH", "WRONGPASS", "NOPERM", "UNKILLABLE", "ERR max number of clients",
}

// retest writes to a part of the store, again and again with jitter, until that
// works or the throttle is closed. What reads alone would find again might
// still take no writes.
func (o *outage) retest(a *absence) {
	defer o.t.loops.Done()
	o.tellStart(a)
	timer := time.NewTimer(a.intervals.NextBackOff())
	defer timer.Stop()
	for {
		select {
		case <-o.t.done.Done():
			return
		case <-a.hints:
		case <-timer.C:
		}
		ctx, cancel := context.WithTimeout(o.t.done, verdictWait)
		_, err := o.t.store.claim(ctx, testClaim(a.tester()))
		cancel()
		var said redis.Error
		if err == nil || a.shard != "" && errors.As(err, &said) && !shownBy(err) { // about that account alone
			o.over(a)
			return
		}
		o.tellLasting(a)
		timer.Reset(a.intervals.NextBackOff())
	}
}

// tester is the account on which the part is tested: one that certainly lives
// there, and where all do, nobody's.
func (a *absence) tester() string {
	if a.shard == "" {
		return "retest"
	}
	return a.account
}

// retestBudget is no budget's name and no model's.
const retestBudget = "\x02retest"

// testClaim charges one unit of a limit that nobody has, whatever is paused, and
// has everybody notified of nothing: a server that allows the one and not the
// other would take no verdict.
func testClaim(account string) *claim {
	s := spec{amount: MaxAmount, burst: MaxAmount, per: 1000, label: 1000 * 64, ceilings: []ceiling{{whole, MaxAmount, MaxAmount}}}
	return &claim{
		account: account, budget: retestBudget, limits: []spec{s}, own: 1, keys: []Fingerprint{retestBudget}, models: []modelID{""},
		verdict: &verdictNote{scope: ScopeModel, resume: true},
		settles: []settlement{{at: present, delta: []float64{1}}}, birth: newEpoch(),
	}
}

// over ends the outage of a part of the store: the verdicts that were kept are
// written, and those who wait or have something to tell turn to it again, at
// first only to tell.
func (o *outage) over(a *absence) {
	now := time.Now()
	o.mu.Lock()
	lasted, kept, nth := now.Sub(a.since), o.kept, a.nth
	wait := o.returnFor(lasted)
	a.since, a.ended, a.cause, a.returns, o.kept = time.Time{}, now, nil, wait > 0, map[keptID]keptVerdict{}
	o.noteLocked()
	o.mu.Unlock()
	o.tellEnd(a, lasted)
	o.turnToStore()
	// This process knows its own verdicts, so nobody has to wait for them.
	for _, k := range kept {
		if o.t.closed.Load() {
			return
		}
		k.write(o.t) // one whose part is still away is kept again
	}
	if wait > 0 {
		o.back(a, wait, nth)
	}
}

// decide brings a batch to the store, or answers it here while that gives no
// answer.
func (t *Throttle) decide(q *queue, b *batch) answer {
	number := 0.0
	switch {
	case t.outage.down(q.a.id):
	case t.outage.returning(q.a.id) && t.outage.allLocal(q, b):
		return t.decideReturning(q, b)
	default:
		ans, err := t.claim(q, b)
		if err == nil {
			t.outage.mirror(q, b, &ans)
			return ans
		}
		t.outage.failed(q.a.id, err)
		number = b.claim.number // it may have been applied all the same
	}
	ans := t.outage.decide(q, b)
	ans.unknown = &fix{number: number, settles: b.claim.settles, tenants: b.claim.unspent()}
	return ans
}
