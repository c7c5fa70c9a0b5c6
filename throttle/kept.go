package throttle

import "time"

// A keptVerdict is one that couldn't be written when it was given.
type keptVerdict struct {
	claim claim
	at    time.Time
}

// A keptID is what a verdict is about. Of two about the same the one that holds
// longer is kept, so that many answers of one kind don't push out another.
type keptID struct {
	account, budget string
	key             Fingerprint
	model           modelID
	what            noticeKind
}

// maxKept bounds the verdicts that are kept during an outage. Beyond it new
// pauses are dropped: the vendor will say them again.
const maxKept = 10_000

// keep holds a verdict for when the store is back.
func (o *outage) keep(c claim, at time.Time) {
	id := keptID{account: c.account}
	switch v := c.verdict; {
	case v.class.pauses() && v.scope == ScopeModel:
		id.budget, id.what = c.budget, noticePause
	case v.class.pauses():
		id.what = noticePause
	case v.class == ModelDenied:
		id.budget, id.model, id.what = c.budget, c.models[v.model], noticeModel
	default:
		id.key, id.what = c.keys[v.key], noticeKey
	}
	k := keptVerdict{c, at}
	o.mu.Lock()
	defer o.mu.Unlock()
	old, known := o.kept[id]
	if known && old.ends().After(k.ends()) || !known && len(o.kept) >= maxKept && id.what != noticeKey {
		return
	}
	o.kept[id] = k
}

// ends is until when the verdict holds.
func (k keptVerdict) ends() time.Time { return k.at.Add(durationOf(k.claim.verdict.length)) }

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

// rewriteWait is how long a verdict waits to be written again whose own message
// was lost.
const rewriteWait = 50 * time.Millisecond

// rewrite has the verdicts written that are kept, though there is no outage at
// the end of which they would be.
func (o *outage) rewrite() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.rewriting || o.t.closed.Load() {
		return
	}
	o.rewriting = true
	o.t.loops.Add(1)
	go func() {
		defer o.t.loops.Done()
		select {
		case <-o.t.done.Done():
			return
		case <-time.After(rewriteWait):
		}
		for _, k := range o.takeKept() {
			k.write(o.t)
		}
	}()
}

// takeKept returns what is kept. What can't be written is kept again.
func (o *outage) takeKept() map[keptID]keptVerdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rewriting = false
	kept := o.kept
	o.kept = map[keptID]keptVerdict{}
	return kept
}
