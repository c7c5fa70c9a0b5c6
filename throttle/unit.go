package throttle

import "strconv"

// A Unit is what a limit counts. The zero Unit counts requests.
type Unit uint8

const (
	UnitRequests     Unit = iota // calls that reach the vendor
	UnitTokens                   // input and output tokens together
	UnitInputTokens              // input tokens
	UnitOutputTokens             // output tokens
	UnitPoints                   // a vendor's own points, such as query cost
	UnitMicroUSD                 // millionths of a US dollar
	UnitInFlight                 // calls running at once
)

var unitNames = [...]string{"requests", "tokens", "input tokens", "output tokens", "points", "micro-USD", "calls in flight"}

// String returns the unit in words, "requests" or "input tokens" for example.
func (u Unit) String() string {
	if int(u) < len(unitNames) {
		return unitNames[u]
	}
	return "Unit(" + strconv.Itoa(int(u)) + ")"
}

// An Algorithm is how a limit counts over time. The zero Algorithm is
// SlidingWindow.
type Algorithm uint8

const (
	// SlidingWindow estimates use over the last Per from two counters: what
	// the current fixed window has, and of the one before as much as its
	// share that is still within Per. It never grants above Amount by that
	// estimate.
	SlidingWindow Algorithm = iota
	// FixedWindow counts from window start to window start. Its bound holds for
	// each such window; two neighbouring ones may be used around their border.
	FixedWindow
	// SlidingLog counts every unit for Per, to the thousandth part of it and
	// never less. It remembers at most a thousand slots.
	SlidingLog
	// TokenBucket holds at most Burst units and gains Amount each Per, evenly:
	// in any time t no more than Burst + Amount*t/Per go.
	TokenBucket
	// GCRA spaces units Per/Amount apart, with Burst of them as tolerance: the
	// same bound as TokenBucket. A Burst of 1 paces calls smoothly.
	GCRA
)

var algorithmNames = [...]string{"SlidingWindow", "FixedWindow", "SlidingLog", "TokenBucket", "GCRA"}

// String returns the name of the constant.
func (a Algorithm) String() string {
	if int(a) < len(algorithmNames) {
		return algorithmNames[a]
	}
	return "Algorithm(" + strconv.Itoa(int(a)) + ")"
}
