package main

import (
	"net/http"
	"sync"
	"time"
)

// An account is the one customer of a vendor: a key, two limits, and what came
// in. Its clock differs from ours.
type account struct {
	mu       sync.Mutex
	requests counter
	tokens   counter
	lenience float64       // by how much the limits are exceeded before anything is refused; 1: not at all
	clock    time.Duration // the vendor's, ahead of ours
	skew     time.Duration // by which what he says of the time is wrong
	key      string
	start    time.Time // of the run: what is written down is in times after it

	storms  []stretch // in which everything is answered 429
	revoked []stretch // in which the key is refused
	onProbe func(process int)

	log []arrival
}

// A stretch is from one instant to another.
type stretch struct{ from, to time.Time }

// left is how much is left of the stretch that an instant is in; 0: it is in none.
func left(all []stretch, at time.Time) time.Duration {
	for _, s := range all {
		if !at.Before(s.from) && at.Before(s.to) {
			return s.to.Sub(at)
		}
	}
	return 0
}

// An arrival is one request as the vendor saw it.
type arrival struct {
	At      time.Duration // after the run's start, on our clock
	Sent    time.Duration
	Lane    string
	Process int
	Call    int
	Tokens  float64
	Status  int
	Storm   bool          // refused because of a storm, not for want of room
	Probe   bool          // came while the key was refused, by somebody who knew it
	Told    time.Duration // when the answer left; 0: it wasn't noted
	Wait    time.Duration // what a 429 said
}

// A verdict is the vendor's answer.
type verdict struct {
	status int
	after  time.Duration // what a 429 says
	index  int           // in the log
}

func newAccount(p plan, key string) *account {
	a := &account{
		requests: newCounter(p.Vendor, float64(p.amount()), p.Window),
		tokens:   newCounter(p.Vendor, float64(p.tokens()), p.Window),
		lenience: 1, key: key,
	}
	if p.Lenient {
		a.lenience = lenient
	}
	return a
}

// ahead is how far the vendor's clock is before ours, at least.
const ahead = 17 * time.Minute

// begin sets the vendor's clock, so that one of his windows starts as the run
// does. It comes before the first request.
func (a *account) begin(start time.Time, per time.Duration) {
	a.set(func() {
		a.start = start
		a.clock = ahead + per - time.Duration(start.Add(ahead).UnixNano()%int64(per))
	})
}

// lenient is how much more than his limit a lenient vendor takes.
const lenient = 4

// judge decides about a request and writes it down.
func (a *account) judge(p *parcel) {
	a.mu.Lock()
	defer a.mu.Unlock()
	in := arrival{At: p.arrives.Sub(a.start), Sent: p.sent.Sub(a.start), Lane: p.lane, Process: p.process, Call: p.call, Tokens: p.tokens}
	own := p.arrives.Add(a.clock)
	switch {
	case p.key != a.key:
		in.Status = http.StatusUnauthorized
	case left(a.revoked, p.arrives) > 0:
		in.Status, in.Probe = http.StatusUnauthorized, a.knownRefused(in.Sent)
	case left(a.storms, p.arrives) > 0:
		in.Status, in.Storm = http.StatusTooManyRequests, true
		p.verdict.after = left(a.storms, p.arrives)
	case !a.room(own, p.tokens):
		in.Status = http.StatusTooManyRequests
		p.verdict.after = time.Second
	default:
		in.Status = http.StatusOK
		a.requests.add(own, 1)
		a.tokens.add(own, p.tokens)
	}
	in.Wait = p.verdict.after
	p.verdict.status, p.verdict.index = in.Status, len(a.log)
	a.log = append(a.log, in)
	if in.Probe && a.onProbe != nil {
		a.onProbe(in.Process)
		a.onProbe = nil
	}
}

func (a *account) room(own time.Time, tokens float64) bool {
	if a.lenience > 1 {
		return a.requests.used(own)+1 <= a.lenience*a.requests.size()
	}
	return a.requests.fits(own, 1) && a.tokens.fits(own, tokens)
}

// knownRefused reports whether the fleet knew, when a request was sent, that
// the key is refused: news after somebody was told.
func (a *account) knownRefused(sent time.Duration) bool {
	for _, in := range a.log {
		if in.Status == http.StatusUnauthorized && in.Told > 0 && sent > in.Told+news {
			return true
		}
	}
	return false
}

// tell notes when the answer left.
func (a *account) tell(v verdict, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.log[v.index].Told = now.Sub(a.start)
}

// now is the time that the vendor says.
func (a *account) now() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Now().Add(a.clock + a.skew)
}

func (a *account) storm(s stretch)                  { a.set(func() { a.storms = append(a.storms, s) }) }
func (a *account) revoke(s stretch)                 { a.set(func() { a.revoked = append(a.revoked, s) }) }
func (a *account) slide(by time.Duration)           { a.set(func() { a.skew += by }) }
func (a *account) atNextProbe(do func(process int)) { a.set(func() { a.onProbe = do }) }

func (a *account) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

// arrivals returns the log so far.
func (a *account) arrivals() []arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]arrival(nil), a.log...)
}
