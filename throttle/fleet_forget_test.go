package throttle

import "slices"

// A store that forgets: what it is told of what it lost, and that this is
// enough.

func (r *referee) lost(i int) bool {
	return r.c.knows[i] != "" && r.c.knows[i] != r.books[i].epoch
}

// forgotten says whether the claim is about a record that was lost and doesn't
// say what it knows of it: then the store decides nothing.
func (r *referee) forgotten(err error) bool {
	lost := (r.lost(0) || r.lost(1)) && r.c.restore == nil
	r.must(lost == (err == errForgot), "12, a store that forgets", "the claim knows %q, the records are %q and %q, and the store said %v",
		r.c.knows, r.books[0].epoch, r.books[1].epoch, err)
	return lost
}

// restore takes over what a process knows of records that were lost: the most
// counts.
func (r *referee) restore() {
	r.restoreKeys()
	told := r.c.restore
	if told == nil {
		return
	}
	for i, b := range r.books {
		if p := told.pauses[i]; r.lost(i) || r.c.knows[i] == "" {
			r.pause(b, whole64(p.left), whole64(p.ramp), p.class)
		}
		if !r.lost(i) {
			continue
		}
		for j, m := range r.meters {
			if (j < r.c.own) == (i == 0) && j < len(told.counts) {
				m.restore(r.now, &told.counts[j])
			}
		}
		for _, d := range told.denied {
			if i == 0 {
				b.denied[d.model] = max(b.denied[d.model], r.now+whole64(d.left))
			}
		}
	}
}

// restoreKeys takes over keys of which a process knows more than the store. Who
// was to probe one that was lost, nobody can say.
func (r *referee) restoreKeys() {
	for i, v := range r.c.states {
		if k := r.shop.key(r.c.keys[i]); whole64(v.gen) > k.gen {
			*k = keyState{gen: whole64(v.gen)}
			if v.refused {
				k.refused, k.class, k.next, k.anybody = true, v.class, r.now+whole64(v.next), true
			}
		}
	}
}

func (m *meter) restore(now int64, known *counter) {
	raise := func(no int64, units float64) {
		if more := whole64(units) - m.in(no); more > 0 && m.ends(no) > now && no <= m.binOf(now) {
			m.put(no, more)
			m.noteRaw(max(no*m.width()+m.offset, now-m.per+1), more)
		}
	}
	if m.bucket() {
		known := level{amount: m.levels[0].amount, burst: m.levels[0].burst, have: whole64(known.bucket.level) * m.per, at: whole64(known.bucket.at)}
		known.have += max(0, now-known.at) * known.amount
		if gone := m.levels[0].holds(m.per) - known.holds(m.per); gone > 0 {
			m.take(now, gone)
		}
		return
	}
	for _, s := range known.slots {
		raise(whole64(s.number), s.units)
	}
	if m.Algorithm != SlidingLog {
		raise(whole64(known.index), known.current)
		raise(whole64(known.index)-1, known.previous)
	}
}

// forget loses a budget's book, the account's or a key, as the store did.
func (r *referee) forget(account, budget string, whole bool, key Fingerprint) {
	s := r.shopOf(account)
	delete(s.keys, key)
	for name, b := range s.books {
		if name == budget && name != "" || name == "" && whole {
			s.shut[name] = max(s.shut[name], b.pause.until+b.pause.ramp)
			delete(s.books, name)
		}
	}
}

// A knowledge is what a queue was last told of its records.
type knowledge struct {
	meters []*meter
	pauses [2]int64
	keys   map[Fingerprint]keyView
}

// tells is what an answer to the claim just judged tells its process.
func (r *referee) tells(c *claim, ans *answer) *knowledge {
	k := &knowledge{keys: map[Fingerprint]keyView{}}
	for _, m := range r.meters {
		k.meters = append(k.meters, m.clone())
	}
	for i, b := range r.books {
		k.pauses[i] = b.pause.until
	}
	for i, v := range ans.keys {
		k.keys[c.keys[i]] = v
	}
	return k
}

// late is how much later than the store a process may take a pause to end, or a
// little earlier, having heard of it by slow messages.
const late = int64(sameInstant / 1000)

// remembered checks, where something was lost, that what the process was last
// told holds again.
func (r *referee) remembered() {
	known := r.known(r.c.process)
	if r.c.restore == nil || known == nil {
		return
	}
	for i, b := range r.books {
		if !r.lost(i) {
			continue
		}
		r.must(known.pauses[i] <= r.now+late || r.resumed > 0 || b.pause.until >= known.pauses[i]-late, "12, a store that forgets",
			"the process knows of pause %d until %d us from now, it holds until %d", i, known.pauses[i]-r.now, b.pause.until-r.now)
		for j, m := range r.meters {
			if (j < r.c.own) != (i == 0) {
				continue
			}
			was := known.meters[j].clone()
			was.advance(r.now)
			slack := int64(0)
			if m.bucket() {
				slack = 1 // what flows in within a unit isn't told
			}
			r.must(m.used(r.now) >= was.used(r.now)-slack, "12, a store that forgets",
				"limit %d (%v): the process was last told of use that is %d by now, the store counts %d", j, m.Limit, was.used(r.now), m.used(r.now))
		}
	}
	for id, v := range known.keys {
		if k := r.shop.key(id); slices.Contains(r.c.keys, id) {
			r.must(float64(k.gen) > v.gen || float64(k.gen) == v.gen && k.refused == v.refused, "12, a store that forgets",
				"the process was told that key %q is %+v, by the store it is %+v", id, v, *k)
		}
	}
}
