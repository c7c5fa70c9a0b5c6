package pause

import (
	"math/bits"
	"strings"
	"time"
)

// MaxHint is the longest wait that a hint yields: ten years. Longer ones, and
// figures that no integer holds, are cut to it.
const MaxHint = 10 * 365 * 24 * time.Hour

// minHint is the shortest wait that a hint yields. What is shorter rounds up
// to it, so that no wait turns into none where time is kept in microseconds.
const minHint = time.Microsecond

// parseDecimal reads digits with at most one point, in the given unit. It
// saturates at MaxHint and is false for anything else, an exponent or a sign
// included. Zero is (0, true).
func parseDecimal(s string, unit time.Duration) (time.Duration, bool) {
	whole, fraction, _ := strings.Cut(s, ".")
	if len(whole)+len(fraction) == 0 || !allDigits(whole) || !allDigits(fraction) {
		return 0, false
	}
	d := saturatingMul(whole, unit) + fractionOf(fraction, unit)
	return min(d, MaxHint), true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// saturatingMul returns digits*unit, at most MaxHint.
func saturatingMul(digits string, unit time.Duration) time.Duration {
	most := MaxHint / unit
	var n time.Duration
	for i := range len(digits) {
		if n = n*10 + time.Duration(digits[i]-'0'); n > most {
			return MaxHint
		}
	}
	return n * unit
}

// fractionOf returns 0.digits*unit, rounded up to the nanosecond.
func fractionOf(digits string, unit time.Duration) time.Duration {
	const precision = 18 // digits, the most that an uint64 takes
	digits = strings.TrimRight(digits, "0")
	more := len(digits) > precision
	if more {
		digits = digits[:precision]
	}
	n, scale := uint64(0), uint64(1)
	for i := range len(digits) {
		n, scale = n*10+uint64(digits[i]-'0'), scale*10
	}
	hi, lo := bits.Mul64(n, uint64(unit))
	d, rest := bits.Div64(hi, lo, scale) // n < scale, so d < unit: no overflow
	if rest > 0 || more {
		d++
	}
	return time.Duration(d)
}

// bounded turns a computed wait into what a parser returns: none where it is
// zero or negative, else between minHint and MaxHint.
func bounded(d time.Duration) (time.Duration, bool) {
	if d <= 0 {
		return 0, false
	}
	return min(max(d, minHint), MaxHint), true
}
