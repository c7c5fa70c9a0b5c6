package throttle

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
)

// A store may lose its memory. Every record has a random epoch, and a claim
// says which ones its process has something to say about. Where the store holds
// another one it decides nothing and says so; the claim comes again with what
// the process knows: how much was used when it last heard, the pauses, the
// denied models. Of what several processes say the most counts, so that each
// may say it, and say it twice.
// restore.go and lua/restore.lua are the same, step by step; change both.

// errForgot is a store's answer to a claim about a record that it lost.
var errForgot = errors.New("headgate: FORGOT the record is not the one that the claim knows")

// newEpoch returns eight random bytes.
func newEpoch() string { return string(binary.BigEndian.AppendUint64(nil, rand.Uint64())) }

// A restoration is what a process knows of a budget and its account.
type restoration struct {
	counts []counter  // by limit
	pauses [2]closure // of the budget, of the account
	denied []modelDenial
}

// anyProbe stands for the probe of a key that the store has lost: it can't know
// whose it was, and believes whoever says that it was theirs.
const anyProbe = "*"

// A modelDenial is a model that is denied for so many microseconds more.
type modelDenial struct {
	model modelID
	left  float64
}

// forgot reports whether a record was lost that the claim knows, and can't be
// restored yet.
func (b *bench) forgot() bool {
	for i := range b.records() {
		if b.lost(i) && b.c.restore == nil {
			return true
		}
	}
	return false
}

func (b *bench) lost(record int) bool {
	knows := b.c.knows[record]
	return knows != "" && b.records()[record].epoch != knows
}

// remember takes over what the claim knows of records that were lost, and tells
// the others, so that they say what they know.
func (b *bench) remember() {
	b.restoreKeys(b.c.states)
	r := b.c.restore
	if r == nil {
		return
	}
	for i, rec := range b.records() {
		// Who was only told of a pause doesn't know the record that has it.
		if p := r.pauses[i]; p.left > 0 && (b.lost(i) || b.c.knows[i] == "") {
			b.pause(rec, verdictNote{class: p.class, length: p.left, ramp: p.ramp}, i == 0)
		}
		if !b.lost(i) {
			continue
		}
		b.dirty[i] = true
		if rec.epoch == "" {
			rec.epoch = b.c.birth
		}
		for j, c := range b.counts[:b.c.shared()] {
			if b.recordOf(j) == rec && j < len(r.counts) {
				c.restore(&b.c.limits[j], &r.counts[j], b.now)
			}
		}
		n := notice{kind: noticeLost, account: b.c.account, epoch: rec.epoch}
		if i == 0 {
			n.budget = b.c.budget
			b.restoreDenied(r.denied)
		}
		b.notices = append(b.notices, n)
	}
}

// begin gives the records an epoch that the claim makes.
func (b *bench) begin() {
	if b.c.dry {
		return
	}
	for i, rec := range b.records() {
		if rec.epoch == "" && b.dirty[i] {
			rec.epoch = b.c.birth
		}
	}
}

func (b *bench) restoreDenied(denied []modelDenial) {
	for _, d := range denied {
		b.denyModel(d.model, verdictNote{class: ModelDenied, length: d.left})
	}
}

// restoreKeys takes over keys of a newer generation than is known.
func (b *bench) restoreKeys(keys []keyView) {
	for i, v := range keys {
		if k := b.keys[i]; v.gen > k.gen {
			*k = keyRecord{gen: v.gen}
			if v.refused {
				k.refused, k.class, k.next, k.probe = true, v.class, b.now+v.next, anyProbe
			}
			b.tellKey(i)
		}
	}
}

// restore raises a counter that was lost to what a process knew of it, which
// has been brought to now by that process.
func (c *counter) restore(s *spec, known *counter, now float64) {
	switch s.algorithm {
	case SlidingWindow:
		switch known.index {
		case c.index:
			c.current, c.previous = max(c.current, known.current), max(c.previous, known.previous)
		case c.index - 1: // it has passed since
			c.previous = max(c.previous, known.current)
		}
	case FixedWindow:
		if known.index == c.index {
			c.current = max(c.current, known.current)
		}
	case SlidingLog:
		for _, slot := range known.slots {
			logRestore(c, s, now, slot)
		}
	case held: // every queue states what it holds
	default:
		if gone := bucketHas(&c.bucket, now, s.per) - bucketHas(&known.bucket, now, s.per); gone > 0 {
			c.take(s, now, gone)
		}
	}
}
