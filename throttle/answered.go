package throttle

import (
	"context"
	"time"
)

// answered does what a vendor's answer demands: first in this process, so that
// its own calls stop at once, then in the store, from where every other
// process learns it. Nothing rides with a later claim.
func (q *queue) answered(info permitInfo, v Verdict) {
	note, ok := q.t.note(info, v)
	if !ok {
		return
	}
	probeRefused := info.probe != "" && v.Class.refusesKey()
	switch {
	case v.Class.pauses() && v.Scope == ScopeModel:
		q.learnPause(note.length, note.ramp, v)
	case v.Class.pauses() && v.Scope == ScopeKey:
		q.a.learnPause(note.length, note.ramp, v)
	case v.Class == ModelDenied && note.length > 0:
		q.learnDenied(info.id, durationOf(note.length), v)
		q.t.tellModelDenied(q, info.model, durationOf(note.length), v)
	case v.Class.refusesKey() && !probeRefused:
		// By its own generation only: an older answer is no news.
		if known := q.a.keyNow(info.key); !known.refused && known.gen == info.keyAt {
			q.a.learnKey(info.key, keyView{gen: info.keyAt + 1, refused: true, class: v.Class, next: note.length}, v, false)
		}
	}
	c := q.noteClaim(info.key, note)
	c.models[0] = info.id
	ans, err := q.t.write(c)
	if err != nil {
		return
	}
	if now := ans.keys[0]; !v.Class.refusesKey() {
		v = verdictOf(now.class, ScopeKey, now.next) // it says nothing about the key
	}
	q.a.learnKey(info.key, ans.keys[0], v, probeRefused)
}

// note turns a verdict into what the store keeps, and reports whether there is
// anything to keep. A request without a model that was told so asked for
// something else that isn't there, and says nothing about the others.
func (t *Throttle) note(info permitInfo, v Verdict) (verdictNote, bool) {
	n := verdictNote{class: v.Class, scope: v.Scope, gen: info.keyAt, probe: info.probe}
	every := t.cfg.Probe.Every
	switch {
	case v.Class.pauses() && v.Scope != ScopeNone:
		length := t.cfg.Pause.Length(v.Wait)
		n.length, n.ramp = microsOf(length), microsOf(t.cfg.Pause.RampFor(length))
	case v.Class == ModelDenied && info.model != "":
		n.length = microsOf(every)
	case v.Class.refusesKey():
		n.length = microsOf(max(every, min(max(0, v.Wait), t.cfg.Pause.Max)))
	default:
		return n, info.probe != "" && v.Class.opensKey()
	}
	return n, true
}

// write makes a claim of its own for a verdict. One that can't be written is
// kept until the store is back.
func (t *Throttle) write(c claim) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), verdictWait)
	defer cancel()
	if t.outage.down(c.account) {
		t.outage.keep(c, time.Now())
		return answer{}, ErrStore
	}
	ans, err := t.store.claim(ctx, &c)
	if err != nil {
		t.outage.keep(c, time.Now())
		t.outage.failed(c.account, err)
		t.outage.rewrite()
	}
	return ans, err
}

// verdictWait bounds the write of a verdict where the store itself doesn't.
const verdictWait = time.Second
