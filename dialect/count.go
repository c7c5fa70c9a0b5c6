package dialect

import (
	"math"
	"strconv"

	"github.com/headgate-go/headgate/throttle"
)

// maxCount is where huge counts saturate: above every limit there can be, and
// small enough to be added and multiplied a little.
const maxCount = 2 * throttle.MaxAmount

// readCount reads a count from a JSON number, or from a string with nothing
// but a number in it, since some servers take those too. Fractions round up,
// and figures beyond maxCount, or too long to be kept, saturate there. It is
// false for zero, negative figures and whatever isn't a number.
func readCount(kind valueKind, text *textBuffer) (int64, bool) {
	if kind != jsonNumber && kind != jsonString || len(text.bytes) == 0 {
		return 0, false
	}
	for _, c := range text.bytes {
		if !isNumberByte(c) { // ParseFloat also reads Inf, hexadecimals and 1_0
			return 0, false
		}
	}
	if text.cut {
		return maxCount, text.bytes[0] != '-'
	}
	f, err := strconv.ParseFloat(string(text.bytes), 64)
	if err != nil && !math.IsInf(f, 1) || f <= 0 {
		return 0, false
	}
	return int64(math.Ceil(min(f, maxCount))), true
}

// maxFigure is how long a figure may be that a vendor reports, in bytes.
const maxFigure = 64

// readUsage reads a count that a vendor reports. It is strict, because what it
// returns replaces an estimate: whole numbers from 0 to throttle.MaxAmount.
func readUsage(kind valueKind, text *textBuffer) (int64, bool) {
	if kind != jsonNumber || text.cut || len(text.bytes) > maxFigure {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(text.bytes), 64)
	if err != nil || f < 0 || f > throttle.MaxAmount || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// times multiplies two counts, saturating at maxCount.
func times(a, b int64) int64 {
	if a > 0 && b > maxCount/a {
		return maxCount
	}
	return a * b
}
