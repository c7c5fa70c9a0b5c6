package throttle

import (
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"github.com/headgate-go/headgate/lanes"
)

// A spec is a Limit as the stores compute with it: float64 microseconds and
// units, which Go and Lua share, and the ceiling of every lane.
type spec struct {
	unit      Unit
	algorithm Algorithm
	label     float64 // what tells this counter from the others in its record
	amount    float64
	per       float64 // microseconds
	offset    float64 // microseconds
	burst     float64
	ceilings  []ceiling // by lane
	text      string    // for errors
}

// A ceiling is what one lane may draw of a limit.
type ceiling struct {
	share  float64 // in millionths; whole is the limit itself
	amount float64
	burst  float64
}

// whole is a ceiling's share where the lane may draw everything.
const whole = 1_000_000

// newSpec turns a validated limit into a spec. where names the counter, for
// spreading the windows of a negative Offset.
func newSpec(l Limit, ls []lanes.Lane, where string) spec {
	if l.Unit == UnitInFlight {
		l.Algorithm = held
	}
	per := l.Per.Microseconds()
	s := spec{
		unit:      l.Unit,
		algorithm: l.Algorithm,
		// Per is at most 2^45 microseconds, so the label stays below 2^53.
		label:  float64(per*64 + int64(l.Unit)*8 + int64(l.Algorithm)),
		amount: float64(l.Amount),
		per:    float64(per),
		offset: offsetMicros(l, where),
		burst:  float64(l.burst()),
		text:   l.String(),
	}
	for _, lane := range ls {
		s.ceilings = append(s.ceilings, newCeiling(l, lane.Share))
	}
	return s
}

func offsetMicros(l Limit, where string) float64 {
	if l.Offset >= 0 {
		return float64(l.Offset.Microseconds())
	}
	h := fnv.New64a()
	h.Write([]byte(where))
	return float64(h.Sum64() % uint64(l.Per.Microseconds()))
}

// newCeiling works out Share x Amount and Share x Burst in integers, so that
// 0.29 of 100 is 29 and not what is left of it in binary. It is never less
// than one.
func newCeiling(l Limit, share float64) ceiling {
	millionths := int64(math.Round(share * whole))
	if millionths >= whole {
		return ceiling{whole, float64(l.Amount), float64(l.burst())}
	}
	part := func(n int64) float64 {
		return float64(max(1, n/whole*millionths+n%whole*millionths/whole))
	}
	return ceiling{float64(max(1, millionths)), part(l.Amount), part(l.burst())}
}

// most is the largest cost that can ever go through in a lane.
func (s *spec) most(lane int) float64 {
	if s.isBucket() {
		return s.ceilings[lane].burst
	}
	return s.ceilings[lane].amount
}

// isBucket reports whether the limit is counted as a bucket. GCRA is: it lets a
// call of cost c go at the very instants at which a bucket of Burst units
// holds c, and differs in how it is told, not in what it does.
// size is the most that can be used at once.
func (s *spec) size() float64 {
	if s.isBucket() {
		return s.burst
	}
	return s.amount
}

func (s *spec) isBucket() bool { return s.algorithm == TokenBucket || s.algorithm == GCRA }

// A counter is the state of one limit. Which fields it uses is up to the
// algorithm.
type counter struct {
	label float64
	// SlidingWindow and FixedWindow: the current window's number, what it has,
	// and what the one before had. SlidingLog: current is the sum of slots.
	index, current, previous float64
	slots                    []logSlot // SlidingLog, oldest first
	holders                  []holder  // of calls in flight; current is their sum
	bucket                   bucketLevel
	shares                   []shareLevel // of the bucket, for shares below whole
}

type shareLevel struct {
	share float64
	bucketLevel
}

// maxWait bounds every computed wait, about 31 years in microseconds, so that
// instants stay exact integers.
const maxWait = 1e15

// microsOf converts a duration to whole microseconds, rounded up and at most
// maxWait.
func microsOf(d time.Duration) float64 {
	micros := d / time.Microsecond
	if d%time.Microsecond > 0 {
		micros++
	}
	return min(float64(micros), maxWait)
}

// durationOf converts microseconds to a duration, saturating.
func durationOf(micros float64) time.Duration {
	if micros >= float64(math.MaxInt64/1000) {
		return math.MaxInt64
	}
	return time.Duration(micros) * time.Microsecond
}

// compileLimits turns limits into specs.
func compileLimits(limits []Limit, ls []lanes.Lane, where string) []spec {
	specs := make([]spec, len(limits))
	for i, l := range limits {
		specs[i] = newSpec(l, ls, fmt.Sprintf("%s/%d", where, i))
	}
	return specs
}
