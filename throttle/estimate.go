package throttle

import (
	"math"
	"slices"
)

// Guesses learn: a budget remembers how much the last guessed calls really cost
// of each token field, and the next guess is the quantile of that. While there
// are few it is twice the most that they cost, but no more than the caller's own
// guess unless they cost more than that.

// How guesses are learned.
const (
	guessSeen     = 64  // calls that are remembered
	guessLeast    = 8   // before their quantile means anything
	guessQuantile = 0.9 // of actual ÷ guess: few calls cost more
	guessMost     = 100 // times the caller's guess
)

// A learned is what is known of guesses of one field.
type learned struct {
	ratios []float64 // of the last calls, actual ÷ guess, the oldest at next
	next   int
	factor float64 // for the next guess; 0: nothing is known
}

// note takes over what a guess turned out to be.
func (l *learned) note(guess, actual int64) {
	if guess <= 0 || actual < 0 {
		return
	}
	ratio := min(guessMost, float64(actual)/float64(guess))
	if len(l.ratios) < guessSeen {
		l.ratios = append(l.ratios, ratio)
	} else {
		l.ratios[l.next] = ratio
		l.next = (l.next + 1) % guessSeen
	}
	if len(l.ratios) < guessLeast {
		most := slices.Max(l.ratios)
		l.factor = max(min(1, 2*most), most)
		return
	}
	sorted := slices.Clone(l.ratios)
	slices.Sort(sorted)
	l.factor = sorted[int(math.Ceil(guessQuantile*float64(len(sorted))))-1]
}

// guess is the caller's guess, made better by what is known: at least one.
func (l *learned) guess(n int64) int64 {
	if l.factor == 0 || n <= 0 {
		return n
	}
	return max(1, int64(min(costCap, math.Ceil(float64(n)*l.factor))))
}

// An estimate is what a budget has learned of guesses.
type estimate struct{ input, output learned }

func (e estimate) clone() estimate {
	e.input.ratios, e.output.ratios = slices.Clone(e.input.ratios), slices.Clone(e.output.ratios)
	return e
}

// Learn teaches the permit's budget what a guess turned out to be: stated is the
// part of the estimate that was known, guess the rest as it was handed to Fit,
// and actual what the call really cost, of which a negative field is unknown.
// It settles nothing, and does nothing after the permit's end.
func (p Permit) Learn(stated, guess, actual Cost) {
	info, ok := p.look()
	if !ok {
		return
	}
	q := info.q
	q.mu.Lock()
	defer q.mu.Unlock()
	q.guesses.input.noteRest(guess.InputTokens, stated.InputTokens, actual.InputTokens)
	q.guesses.output.noteRest(guess.OutputTokens, stated.OutputTokens, actual.OutputTokens)
}

// noteRest notes what is left of the actual cost beside the stated part.
func (l *learned) noteRest(guess, stated, actual int64) {
	if actual >= 0 {
		l.note(guess, max(0, actual-max(0, stated)))
	}
}

// better is a guess after what the budget has learned.
func (q *queue) better(guess Cost) Cost {
	q.mu.Lock()
	defer q.mu.Unlock()
	guess.InputTokens = q.guesses.input.guess(guess.InputTokens)
	guess.OutputTokens = q.guesses.output.guess(guess.OutputTokens)
	return guess
}
