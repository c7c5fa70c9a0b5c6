package throttle

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/headgate-go/headgate/probe"
)

func newProbeID() string { return uuid.NewString() }

// A probeMark in a context makes the first request of its key the probe that
// the context's owner was granted.
type probeMark struct {
	key  Fingerprint
	mu   sync.Mutex
	id   string // "": used
	gave bool
}

type probeMarkKey struct{}

// probeMarkOf returns the context's mark for the key, nil if it has none.
func probeMarkOf(ctx context.Context, key Fingerprint) *probeMark {
	m, _ := ctx.Value(probeMarkKey{}).(*probeMark)
	if m == nil || m.key != key {
		return nil
	}
	return m
}

// take returns the probe's identity to the first who asks.
func (m *probeMark) take() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := m.id
	if id != "" {
		m.id, m.gave = "", true
	}
	return id
}

func (m *probeMark) used() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gave
}

// sendsProbes reports whether refused keys are probed by requests of their own.
// In a dry run they aren't: callers' requests go anyway, and one of them is the
// probe.
func (t *Throttle) sendsProbes() bool { return t.cfg.Probe.Send != nil && !t.cfg.DryRun }

// startProbeLoop probes a refused key by probe.Policy.Send until it is open.
// The store sees to it that one process of the fleet probes at a time.
func (t *Throttle) startProbeLoop(a *account, id Fingerprint) {
	t.startLoop(func() {
		defer a.probingEnded(id)
		probe.Loop(t.done, t.cfg.Probe.Every, func(ctx context.Context) (time.Duration, bool, error) {
			return t.tryProbe(ctx, a, id)
		})
	})
}

// startLoop runs f beside everything else, unless the throttle is closed. Close
// waits for its end.
func (t *Throttle) startLoop(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed.Load() {
		t.loops.Go(f)
	}
}

func (a *account) probingEnded(id Fingerprint) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k := a.keys[id]; k != nil {
		k.probing = false
	}
}

// tryProbe asks the store for the probe of a key and makes it. It returns how
// long until the next one may begin, and whether the key is open.
func (t *Throttle) tryProbe(ctx context.Context, a *account, id Fingerprint) (time.Duration, bool, error) {
	k := a.keyNow(id)
	if left := time.Until(k.next); !k.refused || left > 0 {
		return left, !k.refused, nil
	}
	q := a.anyQueue()
	granted, err := t.claimProbe(ctx, q, id)
	if err != nil {
		return 0, false, err
	}
	if granted != "" {
		t.sendProbe(ctx, q, id, granted)
	}
	k = a.keyNow(id)
	return time.Until(k.next), !k.refused, nil
}

// claimProbe returns the identity of the probe if this process may make it.
func (t *Throttle) claimProbe(ctx context.Context, q *queue, id Fingerprint) (string, error) {
	if t.outage.down(q.a.id) {
		return "", ErrStore
	}
	c := claim{
		account: q.a.id, budget: q.id, limits: q.limits, own: q.own,
		every: microsOf(t.cfg.Probe.Every), probe: newProbeID(),
		keys: []Fingerprint{id}, models: []modelID{""},
		// It costs nothing yet: the request that it becomes is charged.
		runs: []run{{n: 1, cost: make([]float64, len(q.limits)), mayProbe: true}}, birth: newEpoch(),
	}
	c.states = q.a.statesOf(c.keys, time.Now())
	ans, err := t.store.claim(ctx, &c)
	if err != nil {
		t.outage.failed(q.a.id, err)
		return "", err
	}
	q.a.learnKey(id, ans.keys[0], verdictOf(ans.keys[0].class, ScopeKey, ans.keys[0].next), false)
	if o := ans.outcomes[0][0]; o.code != grantedKey {
		return "", nil
	}
	return c.probe, nil
}

// sendProbe runs Policy.Send with a context whose first request through the
// throttle is the probe. Where none went through it, Send's error decides.
func (t *Throttle) sendProbe(ctx context.Context, q *queue, id Fingerprint, probeID string) {
	m := &probeMark{key: id, id: probeID}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, probeMarkKey{}, m), t.cfg.Probe.Timeout)
	defer cancel()
	if err := t.cfg.Probe.Send(ctx, string(id)); err != nil || m.used() {
		return
	}
	q.answered(permitInfo{q: q, key: id, probe: probeID}, Verdict{Class: OK, Detail: "probe accepted"})
}

// anyQueue returns a queue of the account: it has one, or no key of it could
// have been refused.
func (a *account) anyQueue() *queue {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, q := range a.queues {
		return q
	}
	return nil
}
