package throttle

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/redis/go-redis/v9"
)

// An outage is the time while the store is out of reach. It opens when a
// connection is refused or breaks, when the server says that it can't serve, or
// when nothing was answered for as long as one claim may take; a single late
// answer among others in time decides its own claim here and no more. From then
// on no call goes to the store: each is decided by its outage mode, until a
// test in the background finds that the store takes writes again.
type outage struct {
	t     *Throttle
	local *MemoryStore

	mu        sync.Mutex
	since     time.Time // zero: the store is there
	ended     time.Time // of the last outage
	cause     error
	scolded   time.Time // when an error of the store that is no outage was last logged
	intervals *backoff.ExponentialBackOff
	kept      map[keptID]keptVerdict
	rewriting bool // what is kept is about to be written
}

// calmAfter is how long the store must have been there for the next outage to
// be tested as eagerly as a first one.
const calmAfter = 5 * time.Second

func newOutage(t *Throttle) *outage {
	return &outage{
		t: t, local: NewMemoryStore(), kept: map[keptID]keptVerdict{},
		intervals: backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(50*time.Millisecond),
			backoff.WithMaxInterval(time.Second),
			backoff.WithMaxElapsedTime(0),
		),
	}
}

// shut returns once no outage can start any more: the throttle is closed.
func (o *outage) shut() {
	o.mu.Lock()
	defer o.mu.Unlock()
}

// down reports whether the store is out of reach.
func (o *outage) down() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.since.IsZero()
}

// A lateError is a claim that wasn't answered in time.
type lateError struct {
	silent bool // nor was anything else, for as long as a claim may take
	err    error
}

func (e *lateError) Error() string { return "headgate: Redis didn't answer in time: " + e.err.Error() }
func (e *lateError) Unwrap() error { return e.err }

// failed notes that a claim got no decision, and starts an outage if that
// shows one.
func (o *outage) failed(err error) {
	o.mu.Lock()
	if !o.since.IsZero() {
		o.mu.Unlock()
		return
	}
	now := time.Now()
	if o.t.closed.Load() {
		// Nobody waits for its end, and Close tries no other queue in vain.
		if shownBy(err) {
			o.since, o.cause = now, err
		}
		o.mu.Unlock()
		return
	}
	if !shownBy(err) {
		scold := now.Sub(o.scolded) > time.Minute
		if scold {
			o.scolded = now
		}
		o.mu.Unlock()
		if scold {
			o.t.cfg.Logger.Warn("headgate: the store didn't decide a claim, so it was decided here", "err", err)
		}
		return
	}
	o.since, o.cause = now, err
	if now.Sub(o.ended) > calmAfter {
		o.intervals.Reset()
	}
	o.t.loops.Add(1)
	o.mu.Unlock()
	o.t.tellOutage(true, err, 0)
	go o.retest()
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

// retest writes to the store, again and again with jitter, until that works or
// the throttle is closed. What reads alone would find again might still take
// no writes.
func (o *outage) retest() {
	defer o.t.loops.Done()
	timer := time.NewTimer(o.intervals.NextBackOff())
	defer timer.Stop()
	for {
		select {
		case <-o.t.done.Done():
			return
		case <-timer.C:
		}
		ctx, cancel := context.WithTimeout(o.t.done, verdictWait)
		_, err := o.t.store.claim(ctx, testClaim())
		cancel()
		if err == nil {
			o.over()
			return
		}
		timer.Reset(o.intervals.NextBackOff())
	}
}

// testClaim charges one unit of a limit that nobody has.
func testClaim() *claim {
	s := spec{amount: MaxAmount, burst: MaxAmount, per: 1000, label: 1000 * 64, ceilings: []ceiling{{whole, MaxAmount, MaxAmount}}}
	return &claim{
		account: "retest", budget: "retest", limits: []spec{s}, own: 1, keys: []Fingerprint{"retest"}, models: []modelID{""},
		runs: []run{{n: 1, cost: []float64{1}}}, birth: newEpoch(),
	}
}

// over ends the outage: the verdicts that were kept are written, and those
// who wait or have something to tell turn to the store again.
func (o *outage) over() {
	now := time.Now()
	o.mu.Lock()
	lasted, kept := now.Sub(o.since), o.kept
	o.since, o.ended, o.cause, o.kept = time.Time{}, now, nil, map[keptID]keptVerdict{}
	o.mu.Unlock()
	o.t.tellOutage(false, nil, lasted)
	// This process knows its own verdicts, so nobody has to wait for them.
	for _, q := range o.t.allQueues() {
		q.mu.Lock()
		q.due, q.pushed = true, true
		q.errand = q.errand || q.seated // its callers may have been answered here
		q.tellLocked(now)               // it may have lost its memory meanwhile
		q.kick()
	}
	for _, k := range kept {
		if o.t.closed.Load() {
			return
		}
		k.write(o.t)
	}
}

// decide brings a batch to the store, or answers it here while that gives no
// answer.
func (t *Throttle) decide(q *queue, b *batch) answer {
	number := 0.0
	if !t.outage.down() {
		ans, err := t.store.claim(context.Background(), &b.claim)
		if errors.Is(err, errForgot) {
			b.claim.restore = q.restoration()
			q.older(b)
			ans, err = t.store.claim(context.Background(), &b.claim)
		}
		if err == nil {
			t.outage.mirror(q, b, &ans)
			return ans
		}
		t.outage.failed(err)
		number = b.claim.number // it may have been applied all the same
	}
	ans := t.outage.decide(q, b)
	ans.unknown = &fix{number: number, settles: b.claim.settles}
	return ans
}
