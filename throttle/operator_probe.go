package throttle

import (
	"context"
	"time"
)

// Probe lets the next probe of the call's refused key begin now, in whichever
// process of the fleet is the first to make one: with its next call, or at once
// by this process where probe.Policy.Send is set (a dry run doesn't use it). The
// one after it begins no earlier than probe.Policy.Every later, as ever. Of the
// call only Key, Account and Model are used.
//
// Nothing happens where the key isn't refused. A pause is not passed. An error
// says that the store is out of reach: nothing has changed.
func (t *Throttle) Probe(ctx context.Context, call Call) error {
	t.mustBeMade(ctx, "Probe")
	q, err := t.operated(ctx, call, ScopeKey)
	if err != nil {
		return err
	}
	c := q.noteClaim(call.Key, verdictNote{hasten: true})
	c.states = q.a.statesOf(c.keys, time.Now()) // it may have lost the key
	ans, err := t.orderNow(ctx, &c)
	if err != nil {
		return err
	}
	now := ans.keys[0]
	q.a.learnKey(call.Key, now, verdictOf(now.class, ScopeKey, now.next), false)
	if !now.refused {
		return nil
	}
	t.cfg.Logger.Info("headgate: an operator has a refused key probed now", "key", call.Key, "account", q.a.id)
	if t.sendsProbes() {
		t.probeAtOnce(q.a, call.Key)
	}
	return nil
}

// probeAtOnce makes the probe that is due, unless another process is faster:
// the loops of all of them sleep until the instant that was foreseen.
func (t *Throttle) probeAtOnce(a *account, id Fingerprint) {
	t.startLoop(func() { _, _, _ = t.tryProbe(t.done, a, id) }) // the key's own loop tries again
}
