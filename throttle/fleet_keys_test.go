package throttle

// Pauses, refused keys and denied models, by their rules.

// A pauseState is a pause, and the ramp after it.
type pauseState struct {
	until, ramp int64
	gone        int64 // calls since it ended
	began       int64
	class       Class
}

func (p pauseState) ramping(now int64) bool { return p.until > 0 && now < p.until+p.ramp }

func (p pauseState) view(now int64) closure {
	if p.until <= now && !p.ramping(now) {
		return closure{}
	}
	return closure{left: float64(max(0, p.until-now)), ramp: float64(p.ramp), used: float64(p.gone), class: p.class}
}

// turn is when a call of a pace may leave that has k others before it.
func (p pauseState) turn(now int64, of pace, k int64) int64 {
	if p.until <= now && !p.ramping(now) {
		return now
	}
	if of.free() {
		return max(now, p.until)
	}
	return max(now, p.until+of.leaves(k, p.ramp))
}

// A keyState is a credential, as the fleet knows it.
type keyState struct {
	gen         int64
	refused     bool
	class       Class
	next, began int64
	probe       string
	anybody     bool // may have been probing: the store forgot who
}

func (k *keyState) view(now int64) keyView {
	v := keyView{gen: float64(k.gen), refused: k.refused}
	if k.refused {
		v.class, v.next = k.class, float64(max(0, k.next-now))
	}
	return v
}

// pause closes a book for so long; it only grows.
func (r *referee) pause(b *book, length, ramp int64, class Class) {
	if until := r.now + length; length > 0 && until > b.pause.until {
		if until+ramp < b.pause.until+b.pause.ramp {
			for _, o := range b.line { // a message that crosses this one leaves them with the longer ramp
				o.untold = max(o.untold, o.turn)
			}
		}
		b.pause = pauseState{until: until, ramp: ramp, class: class, began: r.now}
	}
}

// verdict does what a vendor's answer demands.
func (r *referee) verdict(v verdictNote) {
	k, length := r.shop.key(r.c.keys[v.key]), whole64(v.length)
	if gen := whole64(v.gen); gen > k.gen { // the request knew more than the store remembers
		*k = keyState{gen: gen, refused: v.probe != "", probe: v.probe, next: r.now + length, began: r.now}
	}
	holder := v.probe != "" && (v.probe == k.probe || k.anybody && whole64(v.gen) == k.gen)
	switch {
	case v.resume: // an operator's; the ramp follows
		if p := &r.books[int(v.scope-ScopeModel)].pause; p.until > r.now {
			p.until, p.gone = r.now, 0
		}
		r.resumed = r.now // also where the store has lost the pause
	case (v.class == Busy || v.class == Overloaded) && v.scope != ScopeNone:
		i := 0
		if v.scope == ScopeKey {
			i = 1
		}
		r.pause(r.books[i], length, whole64(v.ramp), v.class)
	case v.class == ModelDenied && length > 0:
		id := r.c.models[v.model]
		r.books[0].denied[id] = max(r.books[0].denied[id], r.now+length)
	case v.class == KeyRefused || v.class == CreditExhausted:
		switch {
		case k.refused && holder: // counted from when the probe began
			k.next, k.class, k.probe, k.anybody = max(k.next, k.began+length), v.class, "", false
		case !k.refused && whole64(v.gen) == k.gen:
			*k = keyState{gen: k.gen + 1, refused: true, class: v.class, next: r.now + length}
		}
	}
	if holder && (v.class == OK || v.class == Busy || v.class == BadRequest || v.class == ModelDenied) {
		*k = keyState{gen: k.gen + 1}
	}
}

// refused checks a call of a refused key: one goes as its probe, if the
// interval has passed and nothing is paused.
func (r *referee) refused(run *run, k *keyState, o outcome, cost []int64, charged []int64) {
	paused := max(r.books[0].pause.until, r.books[1].pause.until)
	if o.code == grantedKey {
		r.must(o.n == 1, "8, probes", "%d probes at once", o.n)
		r.must(paused <= r.now, "8, probes", "a probe went in a pause")
		if run.holds == "" || run.holds != k.probe && !k.anybody {
			r.must(run.mayProbe && r.c.probe != "" && k.next <= r.now, "8, one probe in an interval",
				"a probe of key %q began %d us before it may", r.c.keys[run.key], k.next-r.now)
			k.probe, k.began, k.next, k.anybody = r.c.probe, r.now, r.now+whole64(r.c.every), false
			r.probed(r.c.keys[run.key])
		}
		r.take(cost, 1, charged)
		return
	}
	r.must(o.code == deniedKey, "8, keys", "a call of a refused key was told %v", o)
	r.must(paused > r.now || !run.mayProbe || r.c.probe == "" || k.next > r.now, "8, probes", "a probe that is due was denied")
	want := max(r.now, k.next, paused) - r.now
	r.must(o.wait == float64(want), "8, keys", "a call was told to come back in %v us, the next probe is in %d", o.wait, want)
}

// probed checks that the last probe of a key began an interval ago at least.
func (r *referee) probed(key Fingerprint) {
	began := r.ledger.probes[key]
	if n := len(began); n > 0 && !r.forgetful {
		r.must(r.now-began[n-1] >= whole64(r.c.every), "8, one probe in an interval", "probes of key %q began %d us apart", key, r.now-began[n-1])
	}
	r.ledger.probes[key] = append(began, r.now)
}
