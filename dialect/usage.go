package dialect

import (
	"net/http"
	"strconv"

	"github.com/headgate-go/headgate/throttle"
)

// A usageField is one figure that answers report, wherever they do, and how it
// counts.
type usageField struct {
	role   usageRole
	header string   // "": none has it
	at     []string // paths in the answer, or in each answer of an array
}

type usageRole uint8

const (
	allInput     usageRole = iota // all input tokens, cached ones included
	cachedInput                   // those of allInput that were read from a cache
	allOutput                     // all output tokens
	allTokens                     // input and output together
	points                        // what the vendor charges in a currency of its own
	partOfInput                   // to be added up
	cachedPart                    // likewise; read from a cache
	partOfOutput                  // to be added up

	usageRoles
)

// maxUsageFields bounds a vendor's table.
const maxUsageFields = 16

// under returns the fields with their paths below each of the given ones. An
// event of a stream has the same figures as the whole answer, but deeper.
func under(above []string, fields ...usageField) []usageField {
	var all []usageField
	for _, field := range fields {
		var at []string
		for _, a := range above {
			for _, name := range field.at {
				at = append(at, a+"."+name)
			}
		}
		all = append(all, usageField{field.role, field.header, at})
	}
	return all
}

// A usageReport is what a vendor reported, by the index of its table. Where a
// figure comes more than once, the last counts: streams report running totals.
type usageReport struct {
	fields []usageField
	values [maxUsageFields]int64 // -1: not reported
}

func newUsageReport(fields []usageField, h http.Header) usageReport {
	u := usageReport{fields: fields}
	for i := range u.values {
		u.values[i] = -1
	}
	for i := range fields {
		if name := fields[i].header; name != "" {
			if n, err := strconv.ParseUint(h.Get(name), 10, 64); err == nil && n <= throttle.MaxAmount {
				u.values[i] = int64(n)
			}
		}
	}
	return u
}

func (u *usageReport) visit(at *path, kind valueKind, text *textBuffer) {
	if kind != jsonNumber {
		return
	}
	for i := range u.fields {
		for _, place := range u.fields[i].at {
			if at.isInAny(place) {
				u.set(i, text)
				return
			}
		}
	}
}

// set takes a later figure for an earlier one, except for a zero after more
// than that: some events have all the fields, and figures in few.
func (u *usageReport) set(i int, text *textBuffer) {
	if n, ok := readUsage(jsonNumber, text); ok && (n > 0 || u.values[i] < 0) {
		u.values[i] = n
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
		Points:       by[points],
		MicroUSD:     -1,
	}, input >= 0 || output >= 0 || by[points] >= 0
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
