package throttle

import (
	"sync"
	"sync/atomic"
	"time"
)

// An account is what this process knows of one account: the last that a store
// or a notice said of its pause and its keys, and the queues of its budgets.
// It lets a call be refused without a round trip. Safe for concurrent use.
type account struct {
	t  *Throttle
	id string
	// touched is set by every call and cleared by each look for idle accounts.
	touched atomic.Bool
	// gave is how often this process has given room back.
	gave atomic.Uint64

	mu     sync.Mutex
	pause  shut
	keys   map[Fingerprint]*heldKey // those that were ever refused
	queues map[string]*queue        // by budget id
}

// touch notes that a call has come. The flag is mostly set: a write would only
// take the memory away from other processors.
func (a *account) touch() {
	if !a.touched.Load() {
		a.touched.Store(true)
	}
}

// A shut is a pause as this process knows it.
type shut struct {
	until   time.Time
	resumed time.Time // when an operator last ended one
	ramp    float64   // microseconds
	verdict Verdict
}

func (s shut) left(now time.Time) time.Duration { return max(0, s.until.Sub(now)) }

// A heldKey is a key's state as this process knows it.
type heldKey struct {
	gen     float64
	refused bool
	next    time.Time // when the next probe may begin
	since   time.Time // when it was refused, for all that is known here
	verdict Verdict
	probing bool // this process runs the probe loop for it
}

// sameInstant is how far apart two reports of one instant may be: the time
// that a message takes differs from one to the next.
const sameInstant = 20 * time.Millisecond

// grow takes over a longer pause and reports whether it is one.
func (s *shut) grow(now time.Time, left, ramp float64, v Verdict) bool {
	until := now.Add(durationOf(left))
	if left <= 0 || until.Sub(s.until) < sameInstant {
		return false
	}
	*s = shut{until: until, resumed: s.resumed, ramp: ramp, verdict: v}
	return true
}

// resume ends the pause at an operator's word.
func (s *shut) resume(now time.Time) { s.until, s.resumed = now, now }

// verdictOf is what can be said of a class that another process was told.
func verdictOf(class Class, scope Scope, left float64) Verdict {
	return Verdict{Class: class, Scope: scope, Wait: durationOf(left)}
}

// learnPause takes over what is known of the account's pause.
func (a *account) learnPause(left, ramp float64, v Verdict) {
	now := time.Now()
	a.mu.Lock()
	grew := a.pause.grow(now, left, ramp, v)
	queues := a.queuesLocked()
	a.mu.Unlock()
	if !grew {
		return
	}
	a.t.outage.paused(a, "", left, ramp, v.Class)
	a.t.tellPaused(a, "", durationOf(left), v)
	for _, q := range queues {
		q.reconsider()
	}
}

func (a *account) queuesLocked() []*queue {
	queues := make([]*queue, 0, len(a.queues))
	for _, q := range a.queues {
		queues = append(queues, q)
	}
	return queues
}

// pauseNow returns the account's pause.
func (a *account) pauseNow() shut {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.pause
}

// learnKey takes over a key's state. probeRefused marks the answer to a probe
// of this process: the state stays what it was, and that is news.
func (a *account) learnKey(id Fingerprint, v keyView, verdict Verdict, probeRefused bool) {
	now := time.Now()
	a.mu.Lock()
	k := a.keys[id]
	if k == nil {
		if v.gen == 0 {
			a.mu.Unlock()
			return
		}
		a.forgetKeyLocked()
		k = &heldKey{}
		a.keys[id] = k
	}
	was := k.refused
	if v.gen < k.gen {
		a.mu.Unlock()
		return
	}
	k.gen, k.refused = v.gen, v.refused
	if v.refused {
		k.next = now.Add(durationOf(v.next))
		if !was {
			k.since = now
		}
		// The words of the process that was told are better than a class.
		if !was || probeRefused {
			k.verdict = verdict
		}
	}
	start := k.refused && !k.probing && a.t.sendsProbes()
	k.probing = k.probing || start
	queues := a.queuesLocked()
	a.mu.Unlock()
	switch {
	case v.refused && (!was || probeRefused):
		a.t.tellKeyRefused(a, id, durationOf(v.next), verdict, was)
	case was && !v.refused:
		a.t.tellKeyOpened(a, id)
	}
	if start {
		a.t.startProbeLoop(a, id)
	}
	if v.refused && !was {
		for _, q := range queues {
			q.turnAway(id)
		}
	}
}

// maxKeys bounds the keys of an account that are remembered.
const maxKeys = 10_000

// forgetKeyLocked makes room for another key. What it forgets is in the store,
// and is said with the key's next claim.
func (a *account) forgetKeyLocked() {
	if len(a.keys) < maxKeys {
		return
	}
	for id, k := range a.keys {
		if !k.probing {
			delete(a.keys, id)
			return
		}
	}
}

// maxTold bounds the refused keys that are told to a store that has lost them.
const maxTold = 64

// refused returns keys that are refused.
func (a *account) refused() (keys []Fingerprint) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, k := range a.keys {
		if k.refused && len(keys) < maxTold {
			keys = append(keys, id)
		}
	}
	return keys
}

func (a *account) anyRefused() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, k := range a.keys {
		if k.refused {
			return true
		}
	}
	return false
}

// statesOf is what is known of keys; nil: nothing.
func (a *account) statesOf(keys []Fingerprint, now time.Time) (states []keyView) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, id := range keys {
		k := a.keys[id]
		if k == nil {
			continue
		}
		if states == nil {
			states = make([]keyView, len(keys))
		}
		states[i] = keyView{gen: k.gen, refused: k.refused, class: k.verdict.Class, next: microsOf(max(0, k.next.Sub(now)))}
	}
	return states
}

// keyNow returns what is known of a key; the zero heldKey is an open one.
func (a *account) keyNow(id Fingerprint) heldKey {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k := a.keys[id]; k != nil {
		return *k
	}
	return heldKey{}
}
