package throttle

import (
	"fmt"
	"math"
	"time"
)

// Bounds of a limit's fields. They keep every sum that a decision makes below
// 2^53, so that Go and Redis compute the same exact integers.
const (
	MaxAmount = 1_000_000_000_000_000 // units
	MinPer    = time.Millisecond
	MaxPer    = 366 * 24 * time.Hour
)

// A Limit is one bound of a budget: Amount units of Unit in every Per. Limits
// are values; the constructors and the With and Using methods return copies.
type Limit struct {
	// Unit is what counts.
	Unit Unit
	// Amount is how many units fit, 1 to MaxAmount.
	Amount int64
	// Per is the window, MinPer to MaxPer, in whole microseconds.
	Per time.Duration
	// Algorithm is how use is counted over time; see each for its bound.
	Algorithm Algorithm
	// Burst is what a TokenBucket or GCRA can hold, 1 to MaxAmount units.
	// 0: Amount. The other algorithms want 0.
	Burst int64
	// Offset moves the windows of FixedWindow and SlidingWindow, which start
	// at epoch + Offset + n*Per. Less than Per; negative: spread by a hash of
	// account and budget, so that not all windows end together.
	Offset time.Duration
}

// Requests limits calls to n in every per.
func Requests(n int64, per time.Duration) Limit {
	return Limit{Unit: UnitRequests, Amount: n, Per: per}
}

// Tokens limits input and output tokens together to n in every per.
func Tokens(n int64, per time.Duration) Limit {
	return Limit{Unit: UnitTokens, Amount: n, Per: per}
}

// InputTokens limits input tokens to n in every per.
func InputTokens(n int64, per time.Duration) Limit {
	return Limit{Unit: UnitInputTokens, Amount: n, Per: per}
}

// OutputTokens limits output tokens to n in every per.
func OutputTokens(n int64, per time.Duration) Limit {
	return Limit{Unit: UnitOutputTokens, Amount: n, Per: per}
}

// Points limits a vendor's own points to n in every per.
func Points(n int64, per time.Duration) Limit {
	return Limit{Unit: UnitPoints, Amount: n, Per: per}
}

// Dollars limits spending to usd US dollars in every per, to the millionth, by
// Budget.Price or by what the caller states in Cost.MicroUSD.
// An amount out of range, NaN included, is refused by New.
func Dollars(usd float64, per time.Duration) Limit {
	l := Limit{Unit: UnitMicroUSD, Per: per, Amount: -1}
	if micro := math.Round(usd * 1e6); micro >= 0 && micro <= MaxAmount {
		l.Amount = int64(micro)
	}
	return l
}

// InFlight limits the calls that run at once in the whole fleet to n: from
// Acquire to the end of the permit. A process that is killed frees its calls
// within 30 seconds. How long a call waits for another to end isn't known, so
// one that may wait does so as long as its lane or its caller allows.
func InFlight(n int64) Limit { return Limit{Unit: UnitInFlight, Amount: n} }

// Using returns the limit counted by another algorithm.
func (l Limit) Using(a Algorithm) Limit { l.Algorithm = a; return l }

// WithBurst returns the limit with another burst, in units.
func (l Limit) WithBurst(n int64) Limit { l.Burst = n; return l }

// String describes the limit as errors name it: "600 requests per 1m0s".
func (l Limit) String() string {
	if l.Unit == UnitInFlight {
		return fmt.Sprintf("%d %v", l.Amount, l.Unit)
	}
	return fmt.Sprintf("%d %v per %v", l.Amount, l.Unit, l.Per)
}

// burst is the capacity of a bucket, in units.
func (l Limit) burst() int64 {
	if l.Burst == 0 {
		return l.Amount
	}
	return l.Burst
}

// validate reports the first field that is out of range.
func (l Limit) validate() error {
	switch {
	case int(l.Unit) >= len(unitNames):
		return fmt.Errorf("Unit is %v, which doesn't exist", l.Unit)
	case int(l.Algorithm) >= len(algorithmNames):
		return fmt.Errorf("Algorithm is %v, which doesn't exist", l.Algorithm)
	case l.Amount < 1 || l.Amount > MaxAmount:
		return fmt.Errorf("Amount is %d, want 1 to %d", l.Amount, int64(MaxAmount))
	case l.Unit == UnitInFlight:
		return l.validateInFlight()
	case l.Per < MinPer || l.Per > MaxPer:
		return fmt.Errorf("Per is %v, want %v to %v", l.Per, MinPer, MaxPer)
	case l.Per%time.Microsecond != 0:
		return fmt.Errorf("Per is %v, want whole microseconds", l.Per)
	}
	return l.validateShape()
}

// validateInFlight checks what a limit on calls in flight must not have.
func (l Limit) validateInFlight() error {
	switch {
	case l.Per != 0:
		return fmt.Errorf("Per is %v, but calls in flight have no window", l.Per)
	case l.Algorithm != 0:
		return fmt.Errorf("Algorithm is %v, but calls in flight have none", l.Algorithm)
	case l.Burst != 0:
		return fmt.Errorf("Burst is %d, but calls in flight have none", l.Burst)
	case l.Offset != 0:
		return fmt.Errorf("Offset is %v, but calls in flight have no windows", l.Offset)
	}
	return nil
}

// validateShape checks the fields that only some algorithms have.
func (l Limit) validateShape() error {
	bucket := l.Algorithm == TokenBucket || l.Algorithm == GCRA
	switch {
	case l.Burst < 0 || l.Burst > MaxAmount:
		return fmt.Errorf("Burst is %d, want 0 to %d", l.Burst, int64(MaxAmount))
	case l.Burst != 0 && !bucket:
		return fmt.Errorf("Burst is %d, but %v has none", l.Burst, l.Algorithm)
	case l.Offset != 0 && (bucket || l.Algorithm == SlidingLog):
		return fmt.Errorf("Offset is %v, but %v has no windows", l.Offset, l.Algorithm)
	case l.Offset >= l.Per:
		return fmt.Errorf("Offset is %v, want less than Per, %v", l.Offset, l.Per)
	case l.Offset > 0 && l.Offset%time.Microsecond != 0:
		return fmt.Errorf("Offset is %v, want whole microseconds", l.Offset)
	}
	return nil
}

// sameCounter reports whether two limits would be told apart by nothing in
// the store: unit, window and algorithm label a counter, amounts don't, so
// that a changed amount keeps what was counted.
func (l Limit) sameCounter(m Limit) bool {
	return l.Unit == m.Unit && l.Per == m.Per && l.Algorithm == m.Algorithm
}
