package dialect

import "github.com/headgate-go/headgate/throttle"

// A usageField is where an answer reports what was used, and how that counts.
type usageField struct {
	at   string // a path in the answer, or in each answer of an array
	role usageRole
}

type usageRole uint8

const (
	allInput     usageRole = iota // all input tokens, cached ones included
	cachedInput                   // those of allInput that were read from a cache
	allOutput                     // all output tokens
	allTokens                     // input and output together
	partOfInput                   // to be added up
	cachedPart                    // likewise; read from a cache
	partOfOutput                  // to be added up

	usageRoles
)

// maxUsageFields bounds a vendor's table.
const maxUsageFields = 16

// A usageReport is what a vendor reported, by the index of its table. Where a
// field comes more than once, the last counts: streams report running totals.
type usageReport struct {
	fields []usageField
	values [maxUsageFields]int64 // -1: not reported
}

func newUsageReport(fields []usageField) usageReport {
	u := usageReport{fields: fields}
	for i := range u.values {
		u.values[i] = -1
	}
	return u
}

func (u *usageReport) visit(at *path, kind valueKind, text *textBuffer) {
	for i := range u.fields {
		if at.isInAny(u.fields[i].at) {
			if n, ok := readUsage(kind, text); ok {
				u.values[i] = n
			}
			return
		}
	}
}

// cost puts the reported fields together. What wasn't reported is unknown, -1.
//
// Output is the total less the input where both are reported: vendors disagree
// on whether reasoning is part of the output, but not on the total.
func (u *usageReport) cost() (actual throttle.Cost, known bool) {
	by := u.byRole()
	input := max(by[allInput], plus(by[partOfInput], by[cachedPart]))
	output := max(by[allOutput], by[partOfOutput])
	if input >= 0 && by[allTokens] >= input {
		output = by[allTokens] - input
	}
	return throttle.Cost{
		InputTokens:  input,
		CachedTokens: max(by[cachedInput], by[cachedPart]),
		OutputTokens: output,
		Points:       -1,
		MicroUSD:     -1,
	}, input >= 0 || output >= 0
}

// byRole sums up the parts. Of two fields that both name the whole, as two
// versions of an API do, the larger counts.
func (u *usageReport) byRole() (by [usageRoles]int64) {
	for role := range by {
		by[role] = -1
	}
	for i, field := range u.fields {
		if n := u.values[i]; field.role >= partOfInput {
			by[field.role] = plus(by[field.role], n)
		} else {
			by[field.role] = max(by[field.role], n)
		}
	}
	return by
}

// plus adds two counts, either of which may be unknown.
func plus(a, b int64) int64 {
	if a < 0 || b < 0 {
		return max(a, b)
	}
	return a + b
}
