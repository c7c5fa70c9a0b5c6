package throttle

import (
	"time"
)

// tell.go is where decisions and changes of state become events and log lines:
// one line per change, never one per call. tell_denied.go has the lines about
// denials.

func (t *Throttle) observe(e Event) {
	change := e.Kind.changesState()
	if t.cfg.Observe == nil && !change {
		return
	}
	e.Time = time.Now()
	if change {
		t.changes.note(e)
	}
	if t.cfg.Observe != nil {
		t.cfg.Observe(e)
	}
}

// admit makes the permit of a call that goes.
func (t *Throttle) admit(a *ask, r reply) Permit {
	kind := EventAdmitted
	if r.probe != "" {
		kind = EventProbe
		t.cfg.Logger.Info("headgate: probing a refused key", "key", a.call.Key, "model", a.call.Model)
	}
	if t.cfg.Observe != nil || kind == EventProbe {
		t.observe(Event{
			Kind: kind, Key: a.call.Key, Account: a.call.Account, Model: a.call.Model,
			Budget: a.q.name, Lane: t.cfg.Lanes[a.lane].Name, Wait: time.Since(a.arrived),
		})
	}
	return newPermit(permitInfo{
		q: a.q, key: a.call.Key, model: a.call.Model, id: a.id, cost: a.call.Cost, tenant: a.tenant,
		at: r.at, keyAt: r.key.gen, probe: r.probe, local: r.local, round: r.round, lease: r.lease, gate: a.gate,
	})
}

// deny reports a denial and returns it as an error.
func (t *Throttle) deny(a *ask, e *DeniedError) error {
	if a.row != nil {
		a.row.denied.Add(1)
	}
	t.tellDenied(a, e)
	t.observe(Event{
		Kind: EventDenied, Key: e.Key, Account: a.call.Account, Model: e.Model, Budget: e.Budget,
		Lane: e.Lane, Wait: e.RetryAfter, Verdict: e.Verdict, Err: e,
	})
	return e
}

func (t *Throttle) tellPaused(a *account, budget string, length time.Duration, v Verdict) {
	msg := "headgate: paused at the vendor's word"
	if v.Detail == operatorsPause {
		msg = "headgate: paused by an operator"
	}
	t.cfg.Logger.Warn(msg, "account", a.id, "budget", budget,
		"for", length, "class", v.Class.String(), "scope", v.Scope.String(), "vendor_wait", v.Wait, "detail", v.Detail)
	t.observe(Event{Kind: EventPaused, Account: a.id, Budget: budget, Wait: length, Raw: v.Wait, Verdict: v})
}

func (t *Throttle) tellResumed(a *account, budget string, early time.Duration) {
	t.observe(Event{Kind: EventResumed, Account: a.id, Budget: budget, Wait: early})
}

func (t *Throttle) tellKeyRefused(a *account, id Fingerprint, next time.Duration, v Verdict, again bool) {
	msg := "headgate: the vendor refuses the key"
	if again {
		msg = "headgate: the vendor still refuses the key"
	}
	t.cfg.Logger.Error(msg, "key", id, "account", a.id, "class", v.Class.String(), "detail", v.Detail, "next_probe", next)
	t.observe(Event{Kind: EventKeyRefused, Key: id, Account: a.id, Wait: next, Raw: v.Wait, Verdict: v})
}

func (t *Throttle) tellKeyOpened(a *account, id Fingerprint) {
	t.cfg.Logger.Info("headgate: the vendor accepts the key again", "key", id, "account", a.id)
	t.observe(Event{Kind: EventKeyOpened, Key: id, Account: a.id})
}

func (t *Throttle) tellModelDenied(q *queue, model string, length time.Duration, v Verdict) {
	t.cfg.Logger.Warn("headgate: the vendor denies the model", "account", q.a.id, "model", model,
		"for", length, "detail", v.Detail)
	t.observe(Event{Kind: EventModelDenied, Account: q.a.id, Model: model, Budget: q.name, Wait: length, Verdict: v})
}

func (t *Throttle) tellLimit(q *queue, limit string, reported int64) {
	t.cfg.Logger.Warn("headgate: the vendor reports another limit", "account", q.a.id, "budget", q.name,
		"configured", limit, "reported", reported)
	t.observe(Event{Kind: EventLimit, Account: q.a.id, Budget: q.name, Limit: limit, Reported: reported})
}

func (t *Throttle) tellLearned(q *queue, l Limit) {
	t.cfg.Logger.Info("headgate: a limit was learned from the vendor", "account", q.a.id, "budget", q.name, "limit", l.String())
	t.observe(Event{Kind: EventLimit, Account: q.a.id, Budget: q.name, Limit: l.String(), Reported: l.Amount})
}
