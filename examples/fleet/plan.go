package main

import (
	"fmt"
	"time"
)

// A plan is one run: which vendor, which fleet, which load, and what goes wrong.
type plan struct {
	Name  string // of files and keys: letters, digits and dashes
	Title string

	Vendor algorithm
	Rate   int           // requests a minute that the vendor allows
	Window time.Duration // in which he counts them: Rate*Window/minute each
	// Tokens is how many tokens a minute the vendor allows; 0: so many that
	// requests run out first.
	Tokens int
	// Lenient has the vendor count as always, but refuse only at several times
	// his limit, so that what a fleet sends beyond it is seen and not cut off.
	Lenient bool
	// Straggle is how long the vendor waits for requests that this machine's
	// loopback holds up; see network.
	Straggle time.Duration

	Fault     fault
	Processes int
	Streams   []stream
	Callers   int // in each process, each making a live call after the other; 0: none
	For       time.Duration
	From      time.Duration // figures count from here on: before it the fleet warms up

	Timeout    time.Duration // throttle.RedisOptions.Timeout; 0: the default
	ProbeEvery time.Duration
	Chunk      int64         // leased ahead; 0: none
	Slots      bool          // calls in flight are counted, too, so that those left behind show
	Linger     time.Duration // for how long keys are waited for that are to expire; 0: keyWait
	Dates      bool          // the vendor says Retry-After as a date, by a clock that is wrong
	Script     []act

	Goals goals
}

// amount is how many requests fit into the vendor's window.
func (p plan) amount() int { return int(int64(p.Rate) * int64(p.Window) / int64(time.Minute)) }

// perSecond is the vendor's rate in requests a second.
func (p plan) perSecond() float64 { return float64(p.Rate) / 60 }

// tokens is how many tokens fit into the vendor's window.
func (p plan) tokens() int {
	if p.Tokens > 0 {
		return int(int64(p.Tokens) * int64(p.Window) / int64(time.Minute))
	}
	return 4 * meanTokens * p.amount()
}

// A stream is calls of one lane at an even pace, whatever becomes of them,
// dealt out among processes.
type stream struct {
	Lane        string
	Load        float64       // in times the vendor's rate
	After       time.Duration // when the first call is due
	Until       time.Duration // no call is due any more; 0: the run's end
	First, Last int           // of the processes that make the calls, Last not included; 0: all
}

// at is when the n-th call of a process is due, after the start, and whether
// there is one.
func (s stream) at(p plan, process, n int) (time.Duration, bool) {
	first, last, until := s.First, s.Last, s.Until
	if last == 0 {
		last = p.Processes
	}
	if until == 0 {
		until = p.For
	}
	place := n*(last-first) + process - first
	due := s.After + time.Duration(float64(place)/(s.Load*p.perSecond())*float64(time.Second))
	return due, process >= first && process < last && due < until
}

const (
	live       = "live"
	background = "background"
)

// A fault is what goes wrong in a run.
type fault string

const (
	faultNone      fault = "none"
	faultFlood     fault = "flood"
	faultKill      fault = "kill"
	faultStopRedis fault = "stop-redis"
	faultFlap      fault = "flap"
	faultFailover  fault = "failover"
	faultSkew      fault = "skew"
	faultRevoke    fault = "revoke"
	faultStorm     fault = "storm"
	faultLeaseKill fault = "lease-kill"
)

var faults = []fault{
	faultNone, faultFlood, faultKill, faultStopRedis, faultFlap, faultFailover, faultSkew, faultRevoke, faultStorm, faultLeaseKill,
}

// ownRedis reports whether the fault needs a Redis that may be harmed.
func (f fault) ownRedis() bool {
	return f == faultStopRedis || f == faultFlap || f == faultFailover
}

// An act is one thing of a fault's script.
type act struct {
	At   time.Duration
	Verb verb
	For  time.Duration
	// First and Last are the processes that a kill is for, Last not included.
	First, Last int
}

type verb string

const (
	kill      verb = "kill"      // processes, for good
	restart   verb = "restart"   // kill processes and start others in their places
	killProbe verb = "killprobe" // the process whose probe the vendor gets next
	hang      verb = "hang"      // Redis, for a time
	failover  verb = "failover"  // kill the primary Redis, and let Sentinel choose another
	storm     verb = "storm"     // the vendor answers 429 for a time
	revoke    verb = "revoke"    // the vendor refuses the key for a time
	slide     verb = "slide"     // the vendor's clock jumps ahead by For
)

func (a act) String() string { return fmt.Sprintf("%s at %v for %v", a.Verb, a.At, a.For) }

// Goals are what a run must keep. Zero fields are rules that it doesn't have.
type goals struct {
	Quota      float64 // least use of the vendor's quota, in percent
	Place      bool    // a call is 1 second of the quota: late timers may cost as much as was measured
	Refusals   bool    // at most one in 10 000
	LiveWait   time.Duration
	Background float64 // highest share of a window, in percent
	Over       float64 // worst window, in percent of the budget
	Pause      bool    // the fleet stops in time, stays away and comes back without a second 429
	Probes     bool    // one an interval
	Outage     bool    // Redis costs only those calls a delay that come as it hangs
	Whole      float64 // use of the budget a window after processes were killed, in percent
}
