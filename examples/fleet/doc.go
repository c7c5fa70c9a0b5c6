// Command fleet is the proof that headgate keeps its promises under load and
// under faults. It starts a vendor on the loopback interface, a real Redis, and a
// fleet of operating-system processes that call the vendor through headgate; has
// something go wrong; and holds what the vendor saw, and what the callers got, to
// rules.
//
//	go run ./examples/fleet                                     # one quiet run at three times the vendor's limit
//	go run ./examples/fleet -fault storm -chart storm.svg       # with a fault, and a picture of it
//	go run ./examples/fleet -vendor bucket-1s -rate 6000
//	go run ./examples/fleet -all -chart docs/fleet.svg          # every goal, in less than ten minutes
//
// It needs redis-server (on Debian apt-get install redis-server), or with -redis
// the address of a Redis on this machine. It exits with 1 if a rule broke, and
// with 2 if it couldn't run.
//
// # The vendor
//
// He counts requests and tokens by one of five algorithms: fixed windows, a log of
// every request, two counters, a token bucket that holds a window's worth, and one
// that holds a second's. That arithmetic shares nothing with the library's. His
// clock is more than a quarter of an hour ahead of ours. He refuses with 429 and
// Retry-After, in a storm too, and with 401 while the key is refused, and writes
// down each arrival: when, of which lane, process and call, and whether it was a
// probe. A probe is a call that left while the key was refused and 100 ms after
// somebody had been told.
//
// A request travels for up to 30 ms, at random, so requests overtake each other.
// That time begins where headgate's transport hands the request on, and the vendor
// judges in the order of arrival. What this machine's loopback adds while its cores
// are busy is left out: the vendor waits up to 100 ms for what is still on its way.
// What comes later than that is judged when it comes, and the table says how many.
//
// Runs that ask how much a fleet sends have a lenient vendor. He counts as always,
// and refuses only at four times his limit: a 429 would stop the fleet and hide it.
//
// # Windows and rates
//
// Rates are per minute, windows are ten seconds: 600 a minute are 100 in each
// window, 60 are 10, and 6 000 are 1 000. A bucket holds a window's worth and fills
// at the rate. -all makes one exception: against two counters, 60 and 600 a minute
// are counted in whole minutes. The library admits while used + 1 <= amount and so
// leaves a part of one request in each window, which is a tenth of 10, a hundredth
// of 100 and a sixtieth of 60.
//
// Quota is measured at the vendor, over his whole windows, after one in which the
// fleet warms up. In that one, callers of a vendor with a log ask for no more than
// his limit: he would remember a burst for good, in each window at the same place.
//
// # Budgets
//
// The budget mirrors the vendor's algorithm, its windows and limits, with the
// smallest margin that is safe for the jitter; mirror.go says which, and why. A
// token bucket that holds one request is the hardest: for jitter of 30 ms, calls
// must leave 1.03 s apart, which is 97.1 % of the quota before any timer is late.
// The table shows what late timers cost, as the control measures it, and the rule
// allows for that.
//
// # Noise
//
// Beside the calls each process has a control, a goroutine that sleeps for 20 ms at
// a time and notes how late it wakes. Where a goal is a time, what the control
// noted at that time is allowed on top, and shown. Delays are measured inside the
// process, from a call's arrival until it was decided.
//
// RedisOptions.Timeout is five seconds where nothing happens to Redis, so that a
// machine that stands still isn't taken for a Redis that does; one second in the
// failover; and the default, 50 ms, where Redis hangs or comes and goes.
//
// # Faults
//
//   - none: live calls at -load times the limit
//   - flood: background calls at -load times the limit, and live ones at 30 % of it
//   - kill: every three seconds a process is killed, and another one started
//   - stop-redis: Redis is stopped for 30 s (SIGSTOP), at ten times -rate, so that
//     every process makes calls in the first 150 ms
//   - flap: Redis is stopped for two seconds out of four, for two minutes
//   - failover: the primary Redis is killed, and Sentinel promotes the replica
//   - skew: the vendor's clock jumps 90 s ahead and 90 s behind, and he says
//     Retry-After as a date by it. The processes' own clocks can't be skewed: what
//     the library decides is by Redis's clock and by times that have passed, and
//     never by a process's time of day
//   - revoke: the key is refused, and the process killed whose call is the probe
//   - storm: three times, everything is answered with 429 for four seconds
//   - lease-kill: 28 processes lease ahead, and 20 of them are killed at once
//
// # What every run must keep
//
// No call is lost: each gets the vendor's answer or a typed denial, no later than
// 50 ms after its deadline, and the vendor knows of each answer. No goroutine is
// left in a process that has closed its throttle, no slot of a call in flight in
// Redis, and no key that doesn't expire, or is there after its expiry.
package main
