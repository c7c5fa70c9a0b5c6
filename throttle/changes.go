package throttle

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxChanges is how many changes of state a throttle remembers.
const maxChanges = 100

// maxChangeText is how many bytes of a name or a detail are remembered with
// one: both come from callers and vendors and may be of any length.
const maxChangeText = 256

// changes are the last changes of state. The zero value is none. Safe for
// concurrent use.
type changes struct {
	mu   sync.Mutex
	ring []Event // at most maxChanges
	next int     // where the next one goes once the ring is full
}

// changesState reports whether an event is a change of state, of which there
// are few, and not the decision of one call.
func (k EventKind) changesState() bool {
	switch k {
	case EventProbe, EventPaused, EventResumed, EventKeyRefused, EventKeyOpened, EventModelDenied,
		EventOutageStart, EventOutageEnd, EventLimit:
		return true
	}
	return false
}

// note remembers an event in the place of the oldest.
func (c *changes) note(e Event) {
	for _, s := range []*string{(*string)(&e.Key), &e.Account, &e.Model, &e.Budget, &e.Lane, &e.Limit, &e.Verdict.Detail} {
		*s = clip(*s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.ring) < maxChanges {
		c.ring = append(c.ring, e)
		return
	}
	c.ring[c.next] = e
	c.next = (c.next + 1) % maxChanges
}

// latest returns what is remembered, the newest first.
func (c *changes) latest() []Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Concat(c.ring[c.next:], c.ring[:c.next])
	slices.Reverse(all)
	return all
}

// clip shortens a text that is too long to be remembered, and keeps nothing of
// the memory of the whole.
func clip(s string) string {
	if len(s) <= maxChangeText {
		return s
	}
	end := maxChangeText
	for end > maxChangeText-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.Clone(s[:end]) + "…"
}
