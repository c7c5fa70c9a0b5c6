package dialect

import (
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/headgate-go/headgate/throttle"
)

// What is guessed where a request doesn't say. The figures are this package's
// own; vendors publish none. They only have to do until usage is known.
const (
	bytesPerToken = 4    // of the body
	tokensPerFile = 1000 // of an embedded image or document
	guessedOutput = 1024 // tokens of one answer
	maxChoices    = 128  // answers that are believed to be asked for
)

// cost returns what the request states and what is guessed on top. Without a
// model it is one request and no tokens.
func (v *vendor) cost(r *http.Request, model string, found *bodyScan) (stated, guess throttle.Cost) {
	stated.Requests = 1
	if model != "" && v.tokens {
		guess.InputTokens = found.inputGuess()
		if !v.putsOutNothing(r) {
			stated.OutputTokens, guess.OutputTokens = v.output(found)
		}
	}
	for _, f := range v.costs {
		stated, guess = split(stated, guess, f(r, sum(stated, guess)))
	}
	return stated, guess
}

func (v *vendor) putsOutNothing(r *http.Request) bool {
	return slices.ContainsFunc(v.inputOnly, func(part string) bool { return strings.Contains(r.URL.Path, part) })
}

// output returns the output that the request states, and what is guessed where
// it states none or the vendor doesn't charge for what is stated.
func (v *vendor) output(found *bodyScan) (stated, guess int64) {
	answers := min(max(found.choices, 1), maxChoices)
	switch {
	case found.outCap > 0 && v.reserves:
		return times(found.outCap, answers), 0
	case found.outCap > 0:
		return 0, times(min(found.outCap, guessedOutput), answers)
	}
	return 0, times(guessedOutput, answers)
}

// inputGuess is the body's size in tokens, with a flat count for embedded
// files. What wasn't scanned is taken to be like what was.
func (b *bodyScan) inputGuess() int64 {
	prose := float64(b.scanned - b.prose.bytes)
	if b.scanned > 0 {
		prose *= float64(b.size) / float64(b.scanned)
	}
	return int64(math.Ceil(prose/bytesPerToken)) + b.prose.files*tokensPerFile
}

func sum(a, b throttle.Cost) throttle.Cost {
	return throttle.Cost{
		Requests:     a.Requests + b.Requests,
		InputTokens:  a.InputTokens + b.InputTokens,
		CachedTokens: a.CachedTokens + b.CachedTokens,
		OutputTokens: a.OutputTokens + b.OutputTokens,
		Points:       a.Points + b.Points,
		MicroUSD:     a.MicroUSD + b.MicroUSD,
	}
}

// split takes an own estimate apart again: fields that are still the sum of
// what was stated and guessed stay so, changed ones count as stated.
func split(stated, guess, own throttle.Cost) (throttle.Cost, throttle.Cost) {
	take := func(stated, guess *int64, own int64) {
		if own != *stated+*guess {
			*stated, *guess = own, 0
		}
	}
	take(&stated.Requests, &guess.Requests, own.Requests)
	take(&stated.InputTokens, &guess.InputTokens, own.InputTokens)
	take(&stated.CachedTokens, &guess.CachedTokens, own.CachedTokens)
	take(&stated.OutputTokens, &guess.OutputTokens, own.OutputTokens)
	take(&stated.Points, &guess.Points, own.Points)
	take(&stated.MicroUSD, &guess.MicroUSD, own.MicroUSD)
	return stated, guess
}
