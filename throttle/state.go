package throttle

// startProbe makes the run's first call the probe of its refused key, if it may
// be: nothing is paused, and either the call already holds the probe's identity
// or the interval has passed and the claim offers a new one. The probe passes
// all limits, and is charged like any call.
func (b *bench) startProbe(r *run, k *keyRecord) bool {
	if b.budget.until > b.now || b.account.until > b.now {
		return false
	}
	if r.holds != "" && (r.holds == k.probe || k.probe == anyProbe) {
		b.take(r, 1)
		return true
	}
	if !r.mayProbe || b.c.probe == "" || k.next > b.now {
		return false
	}
	k.probe, k.began, k.next = b.c.probe, b.now, b.now+b.c.every
	b.take(r, 1)
	b.tellKey(r.key)
	return true
}

// apply writes what a vendor's answer means.
func (b *bench) apply(v verdictNote) {
	k := b.keys[v.key]
	if v.gen > k.gen {
		// The store has lost the key: the request knew more of it.
		*k = keyRecord{gen: v.gen, refused: v.probe != "", probe: v.probe, next: b.now + v.length, began: b.now}
	}
	holder := v.probe != "" && (v.probe == k.probe || k.probe == anyProbe && v.gen == k.gen)
	switch {
	case v.resume && v.scope == ScopeModel:
		b.resume(b.budget, true)
	case v.resume:
		b.resume(b.account, false)
	case v.hasten:
		b.hasten(k, v)
	case v.class.pauses() && v.scope == ScopeModel:
		b.pause(b.budget, v, true)
	case v.class.pauses() && v.scope == ScopeKey:
		b.pause(b.account, v, false)
	case v.class == ModelDenied && v.length > 0:
		b.denyModel(b.c.models[v.model], v)
	case v.class.refusesKey():
		b.refuseKey(k, v, holder)
	}
	if holder && v.class.opensKey() {
		*k = keyRecord{gen: k.gen + 1}
		b.tellKey(v.key)
	}
}

// pause closes a record until the later of its end and the verdict's. A pause
// that grows starts the ramp again.
func (b *bench) pause(r *record, v verdictNote, own bool) {
	until := b.now + v.length
	if until <= r.until {
		return
	}
	r.until, r.ramp, r.used, r.class = until, v.ramp, 0, v.class
	b.dirtyRecord(r)
	n := notice{kind: noticePause, account: b.c.account, left: v.length, ramp: v.ramp, class: v.class}
	if own {
		n.budget = b.c.budget
	}
	b.notices = append(b.notices, n)
}

// resume ends a pause at an operator's word. Its ramp follows.
func (b *bench) resume(r *record, own bool) {
	if r.until > b.now {
		r.until, r.used = b.now, 0
		b.dirtyRecord(r)
	}
	// In any case: the store may have lost a pause that others still know.
	n := notice{kind: noticeResume, account: b.c.account}
	if own {
		n.budget = b.c.budget
	}
	b.notices = append(b.notices, n)
}

func (b *bench) denyModel(id modelID, v verdictNote) {
	until := b.now + v.length
	if until <= b.budget.denied[id] {
		return
	}
	b.budget.deny(id, until)
	b.dirty[0] = true
	b.notices = append(b.notices, notice{
		kind: noticeModel, account: b.c.account, budget: b.c.budget, model: id, left: v.length, class: v.class,
	})
}

// refuseKey closes an open key for a request of its own generation, or keeps a
// refused one closed after its probe's answer. Everybody else's answer is old
// news.
func (b *bench) refuseKey(k *keyRecord, v verdictNote, holder bool) {
	switch {
	case k.refused && holder:
		// The interval runs from the beginning of the probe.
		k.next, k.class, k.probe = max(k.next, k.began+v.length), v.class, ""
	case !k.refused && v.gen == k.gen:
		*k = keyRecord{gen: k.gen + 1, refused: true, class: v.class, next: b.now + v.length}
	default:
		return
	}
	b.tellKey(v.key)
}

// hasten lets the next probe of a refused key begin now. The interval counts
// from it, as from any other.
func (b *bench) hasten(k *keyRecord, v verdictNote) {
	if k.refused {
		k.next = min(k.next, b.now)
		b.tellKey(v.key)
	}
}

// tellKey pushes a key's state to every process.
func (b *bench) tellKey(i int) {
	k := b.keys[i].view(b.now)
	b.notices = append(b.notices, notice{
		kind: noticeKey, account: b.c.account, key: b.c.keys[i],
		left: k.next, class: k.class, gen: k.gen, refused: k.refused,
	})
}

// settle corrects an earlier charge.
func (b *bench) settle(s settlement) {
	tenant := b.c.placeOf(s.tenant)
	b.use(tenant)
	for i, d := range s.delta {
		if d != 0 && (tenant > 0 || i < b.c.shared()) {
			c := b.counts[i]
			c.settle(&b.c.limits[i], b.now, s.at, d)
			b.changed = true
			b.dirtyRecord(b.recordOf(i))
			if d < 0 && !b.c.limits[i].inFlight() {
				b.free(i)
			}
		}
	}
	for _, r := range b.records() {
		if s.calls > 0 && r.ramping(b.now) && s.at >= r.until {
			r.used = max(0, r.used-s.calls)
			b.dirtyRecord(r)
		}
	}
}

func (r *record) view(now float64) closure {
	if r.until <= now && !r.ramping(now) {
		return closure{}
	}
	return closure{left: max(0, r.until-now), ramp: r.ramp, used: r.used, class: r.class}
}

func (k *keyRecord) view(now float64) keyView {
	v := keyView{gen: k.gen, refused: k.refused}
	if k.refused {
		v.class, v.next = k.class, max(0, k.next-now)
	}
	return v
}

func (r *record) deny(model modelID, until float64) {
	if r.denied == nil {
		r.denied = map[modelID]float64{}
	}
	r.denied[model] = until
}
