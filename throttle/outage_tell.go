package throttle

import "time"

// outage_tell.go says that the store is out of reach and that it is back: one
// event and one log line each. A store that comes and goes is told as it does,
// by events; lines of its log come at most once in quietFor, and an outage that
// lasts so long is logged in any case.

// quietFor is how long nothing is logged after the start of an outage was, but
// for its own end.
const quietFor = 10 * time.Second

// tellings is what was logged of the outages of a part of the store. The one
// test in the background has it to itself, one after the other.
type tellings struct {
	at     time.Time // when a start was last logged
	logged bool      // the start of the one that lasts, or of the last one
	silent int       // outages since then that weren't logged
}

func (o *outage) tellStart(a *absence) {
	_, cause := o.facts(a)
	a.told.logged = false
	o.logStart(a)
	o.t.observe(Event{Kind: EventOutageStart, Server: a.shard, Err: cause})
}

// tellLasting logs an outage that has outlasted the silence in which it began.
func (o *outage) tellLasting(a *absence) { o.logStart(a) }

func (o *outage) logStart(a *absence) {
	now := time.Now()
	if a.told.logged || now.Sub(a.told.at) < quietFor {
		return
	}
	since, cause := o.facts(a)
	o.t.cfg.Logger.Error("headgate: the store is out of reach", append(a.where(), "err", cause, "since", since, "unlogged_outages", a.told.silent)...)
	a.told = tellings{at: now, logged: true}
}

func (o *outage) tellEnd(a *absence, lasted time.Duration) {
	if a.told.logged {
		o.t.cfg.Logger.Info("headgate: the store is back", append(a.where(), "after", lasted)...)
	} else {
		a.told.silent++
	}
	o.t.observe(Event{Kind: EventOutageEnd, Server: a.shard, Wait: lasted})
}

// facts returns since when and why the part is out of reach.
func (o *outage) facts(a *absence) (since time.Time, cause error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return a.since, a.cause
}

// status is what a Status says.
func (o *outage) status() (parts []OutageStatus) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range o.lastingLocked() {
		parts = append(parts, OutageStatus{Server: a.shard, Since: a.since, Cause: a.cause})
	}
	return parts
}

// where names the server of a cluster.
func (a *absence) where() []any {
	if a.shard == "" {
		return nil
	}
	return []any{"server", a.shard}
}
