package main

import (
	"fmt"
	"time"
)

// unhurried is the RedisOptions.Timeout of runs in which nothing happens to
// Redis: a machine that stands still isn't to be taken for a Redis that does.
const unhurried = 5 * time.Second

// quotaPlan is a fleet at several times the load, against one vendor.
func quotaPlan(a algorithm, rate int, window, measured time.Duration, load float64) plan {
	p := plan{
		Name: fmt.Sprintf("%s-%d", a, rate), Vendor: a, Rate: rate, Window: window,
		Fault: faultNone, Processes: 8, From: window, For: window + measured,
		Timeout: unhurried, Straggle: 100 * time.Millisecond,
		Goals: goals{Quota: 99, Refusals: true},
	}
	if rate < 600 {
		p.Goals.Quota = 97
	}
	p.Goals.Place = a == bucket1s && rate <= 60
	p.Title = fmt.Sprintf("live calls at %.3g times what a vendor with %s allows", load, counting[a])
	p.Streams = warmUp(a, load, window)
	return p
}

// warmUp is a live load that begins with no more than the rate where a vendor
// would remember the burst at the start for good: in each of his windows calls
// would leave as in the one before.
func warmUp(a algorithm, load float64, window time.Duration) []stream {
	if a != slidingLog {
		return []stream{{Lane: live, Load: load}}
	}
	return []stream{{Lane: live, Load: 1, Until: window}, {Lane: live, Load: load, After: window}}
}

// faultPlan is a fleet with something going wrong.
func faultPlan(f fault, a algorithm, rate int, window time.Duration, load float64) plan {
	p := plan{
		Name: string(f), Vendor: a, Rate: rate, Window: window, Fault: f, Processes: 8,
		Straggle: 20 * time.Millisecond, Timeout: unhurried, Slots: true,
	}
	both := []stream{{Lane: live, Load: load}, {Lane: background, Load: load / 2}}
	switch f {
	case faultKill:
		p.Title = "a process is killed every 3s and another one started in its place"
		p.For, p.From, p.Streams = 4*window, window, both
		for i := range 8 {
			p.Script = append(p.Script, act{At: time.Duration(5+3*i) * time.Second, Verb: restart, First: i, Last: i + 1})
		}
		p.Goals = goals{Refusals: true}
	case faultStopRedis:
		const hung = 30 * time.Second
		p.Timeout = 0
		p.Title = "Redis hangs for 30s; each process goes on with its part of the budget"
		p.Lenient, p.Rate, p.Streams = true, 10*rate, both
		p.For, p.From = window+hung+2*window, window
		p.Script = []act{{At: window, Verb: hang, For: hung}}
		p.Goals = goals{Over: 110, Outage: true}
	case faultFlap:
		const flapping = 2 * time.Minute
		p.Timeout = 0
		p.Title = "Redis comes and goes, 2s each, for 2 minutes"
		p.Lenient, p.Streams = true, both
		p.For, p.From = window+flapping+window, window
		for at := time.Duration(0); at < flapping; at += 4 * time.Second {
			p.Script = append(p.Script, act{At: window + at, Verb: hang, For: 2 * time.Second})
		}
		p.Goals = goals{Over: 110}
	case faultFailover:
		p.Timeout = time.Second
		p.Title = "the primary Redis is killed, and Sentinel makes the replica one"
		p.Lenient, p.Streams = true, both
		p.For, p.From = 4*window, window
		p.Script = []act{{At: window + window/2, Verb: failover, For: 3 * time.Second}}
		p.Goals = goals{Over: 110}
	case faultSkew:
		p.Title = "the vendor's clock is 90s ahead, then 90s behind, and he says Retry-After as a date by it"
		p.Dates, p.Streams = true, both
		p.For, p.From = 45*time.Second, window
		p.Script = []act{
			{At: 7 * time.Second, Verb: slide, For: 90 * time.Second},
			{At: 8 * time.Second, Verb: storm, For: 5 * time.Second},
			{At: 27 * time.Second, Verb: slide, For: -180 * time.Second},
			{At: 28 * time.Second, Verb: storm, For: 5 * time.Second},
		}
		p.Goals = goals{Pause: true, Refusals: true}
	case faultRevoke:
		p.Title = "the key is refused for 22s, and a process killed as it probes"
		p.ProbeEvery = 4 * time.Second
		p.For, p.From, p.Streams = 40*time.Second, window, both
		p.Script = []act{{At: 8 * time.Second, Verb: revoke, For: 22 * time.Second}, {At: 14 * time.Second, Verb: killProbe}}
		p.Goals = goals{Probes: true, Refusals: true}
	case faultStorm:
		p.Title = "the vendor answers everything with 429, three times"
		p.For, p.From, p.Streams = 54*time.Second, window, both
		for i := range 3 {
			p.Script = append(p.Script, act{At: time.Duration(8+15*i) * time.Second, Verb: storm, For: 4 * time.Second})
		}
		p.Goals = goals{Pause: true, Refusals: true}
	case faultLeaseKill:
		const victims = 20
		p.Title = "28 processes lease ahead, and 20 are killed at once"
		p.Processes, p.Chunk, p.Lenient, p.Vendor, p.Slots = 8+victims, 10, true, fixed, false // slots are never leased
		p.Straggle = 100 * time.Millisecond
		p.For, p.From = 4*window, window
		// Until then there is room in the window, or nothing would be leased; and
		// then the others want all that is left of it.
		const at = 13 * time.Second
		p.Streams = []stream{
			{Lane: live, Load: 0.8, First: 0, Last: victims},
			{Lane: live, Load: load, After: at, First: victims, Last: victims + 8},
		}
		p.Script = []act{{At: at, Verb: kill, First: 0, Last: victims}}
		p.Goals = goals{Whole: 99}
	case faultFlood:
		p = lanesPlan(a, rate, window, load)
	default:
		p = quotaPlan(a, rate, window, 3*window, load)
	}
	return p
}

// lanesPlan is a flood of background work, and a steady live demand that begins
// a window later.
func lanesPlan(a algorithm, rate int, window time.Duration, load float64) plan {
	return plan{
		Name: string(faultFlood), Title: "a flood of background work, and a steady live demand of 30% a window later",
		Vendor: a, Rate: rate, Window: window, Fault: faultFlood, Processes: 8,
		Timeout: unhurried, Straggle: 100 * time.Millisecond,
		For: 5 * window, From: window,
		Streams: []stream{{Lane: background, Load: load}, {Lane: live, Load: 0.3, After: window}},
		Goals:   goals{LiveWait: 10 * time.Millisecond, Background: 60, Refusals: true},
	}
}

// everything are the plans that check every goal, in an order in which plans
// with much to do don't disturb those that measure short times.
func everything() []stage {
	const window = 10 * time.Second
	var loud, quiet, hurt, timed stage
	for _, a := range algorithms {
		loud = append(loud, quotaPlan(a, 6000, window, 3*window, 3))
		for _, rate := range []int{600, 60} {
			// Two counters lose less than one request in each window by the strict
			// rule that the library has for them. That is a tenth of ten requests,
			// and a sixtieth of a minute's.
			per, measured := window, 18*window
			if a == twoCounter {
				per, measured = time.Minute, 2*time.Minute
			}
			quiet = append(quiet, quotaPlan(a, rate, per, measured, 3))
		}
	}
	quiet = append(quiet, tokenPlan(window), faultPlan(faultFlap, twoCounter, 600, window, 3))
	for _, f := range []fault{faultKill, faultFailover, faultSkew, faultRevoke, faultStorm} {
		hurt = append(hurt, faultPlan(f, twoCounter, 600, window, 3))
	}
	hurt = append(hurt, faultPlan(faultLeaseKill, fixed, 6000, window, 3))
	timed = stage{
		lanesPlan(slidingLog, 6000, window, 3), // so many live calls that one of a hundred is more than one
		faultPlan(faultStopRedis, twoCounter, 600, window, 3),
	}
	return []stage{loud, quiet, hurt, timed}
}

// tokenPlan is one in which tokens are scarcer than requests.
func tokenPlan(window time.Duration) plan {
	p := quotaPlan(bucket, 600, window, 6*window, 3)
	p.Name, p.Tokens = "tokens", 300*meanTokens
	p.Title = fmt.Sprintf("live calls at three times the vendor's %d tokens a minute, %d to %d with each", p.Tokens, promptTokens+leastAnswer, maxTokens)
	p.Streams = []stream{{Lane: live, Load: 1.5}}
	return p
}
