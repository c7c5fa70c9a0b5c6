package throttle

import (
	"fmt"
	"strings"
)

// A fleetEvent is one step of a fleet's history: a claim as the store applied
// it, or what a caller did.
type fleetEvent struct {
	at    float64
	proc  int
	text  string
	claim *claim
	ans   answer
	err   error
}

// shownEvents is how many of the last steps a failure prints.
const shownEvents = 40

func (e fleetEvent) String() string {
	head := fmt.Sprintf("%14.6f  process %d  ", e.at/1e6, e.proc)
	if e.claim == nil {
		return head + e.text
	}
	var b strings.Builder
	c := e.claim
	fmt.Fprintf(&b, "%sclaim %v of %s/%s by %q", head, c.number, c.account, c.budget, c.process)
	for _, f := range c.fixes {
		fmt.Fprintf(&b, "\n      fix of claim %v: spent %v %v", f.number, f.spent, f.settles)
	}
	for _, s := range c.settles {
		fmt.Fprintf(&b, "\n      settle %v at %.6f, %v calls", s.delta, s.at/1e6, s.calls)
	}
	if c.verdict != nil {
		fmt.Fprintf(&b, "\n      verdict %+v", *c.verdict)
	}
	if c.restore != nil {
		fmt.Fprintf(&b, "\n      knows %+v", *c.restore)
	}
	for i, r := range c.runs {
		fmt.Fprintf(&b, "\n      lane %d: %d calls of %v, came %.6f, would wait %v us", r.lane, r.n, r.cost, r.since/1e6, r.patience)
		if r.since == 0 {
			fmt.Fprintf(&b, " (%v us ago)", r.age)
		}
		if r.hold {
			fmt.Fprint(&b, ", kept places only")
		}
		if r.mayProbe || r.holds != "" {
			fmt.Fprintf(&b, ", probe %q", r.holds)
		}
		if i < len(e.ans.outcomes) {
			for _, o := range e.ans.outcomes[i] {
				fmt.Fprintf(&b, "\n         -> %d %s, %v us, lacks %b, limit %d", o.n, codeNames[o.code], o.wait, o.lacks, o.limit)
			}
		}
	}
	if c.lease != nil {
		fmt.Fprintf(&b, "\n      lease of lane %d: %v calls of %v, at most 1/%v -> %v", c.lease.lane, c.lease.n, c.lease.cost, c.lease.divisor, e.ans.leased)
	}
	if e.err != nil {
		fmt.Fprintf(&b, "\n      -> %v", e.err)
	} else {
		fmt.Fprintf(&b, "\n      -> used %v", e.ans.used)
	}
	return b.String()
}

var codeNames = [...]string{"granted", "granted as probe", "wait for room", "wait for a pause", "denied for room", "denied for a pause", "denied: key", "denied: model", "denied: store"}

// note adds a step. f.mu is held.
func (f *fleetRun) note(e fleetEvent) {
	f.steps++
	f.history = append(f.history, e)
	if len(f.history) > 4*shownEvents {
		f.history = append(f.history[:0], f.history[len(f.history)-shownEvents:]...)
	}
}

// tell notes what a caller did.
func (f *fleetRun) tell(proc int, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note(fleetEvent{at: f.store.now(), proc: proc, text: fmt.Sprintf(format, args...)})
}

// fail keeps the first broken rule. f.mu is held.
func (f *fleetRun) fail(rule, format string, args ...any) {
	if f.failure != "" {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d, step %d, at %.6f: rule %s\n  %s\n\nthe fleet: %v\n\nthe last steps:", f.plan.seed, f.steps, f.store.now()/1e6, rule, fmt.Sprintf(format, args...), f.plan)
	for _, e := range f.history[max(0, len(f.history)-shownEvents):] {
		fmt.Fprintf(&b, "\n%v", e)
	}
	fmt.Fprintf(&b, "\n\nby the model:%v", f.referee)
	fmt.Fprintf(&b, "\n\nto see it again: go test ./throttle -run TestRandomFleets -fleets.seed=%d", f.plan.seed)
	f.failure = b.String()
}

// String is what the referee knows of the account that it judged last.
func (r *referee) String() string {
	var b strings.Builder
	if r.shop == nil {
		return ""
	}
	for name, book := range r.shop.books {
		fmt.Fprintf(&b, "\n  budget %q: pause until %.6f, ramp %d us, %d gone", name, float64(book.pause.until)/1e6, book.pause.ramp, book.pause.gone)
		for _, m := range book.meters {
			fmt.Fprintf(&b, "\n    %v: uses %d", m.Limit, m.used(r.now))
			for lane := range m.portions {
				fmt.Fprintf(&b, ", lane %d has %d", lane, m.free(lane, r.now))
			}
		}
		for _, s := range book.line {
			fmt.Fprintf(&b, "\n    %q waits in lane %d since %.6f with %v, turn %.6f, may go %.6f", s.process, s.lane, float64(s.since)/1e6, s.cost, float64(s.turn)/1e6, float64(s.due)/1e6)
		}
	}
	for id, k := range r.shop.keys {
		fmt.Fprintf(&b, "\n  key %q: %+v", id, *k)
	}
	return b.String()
}
