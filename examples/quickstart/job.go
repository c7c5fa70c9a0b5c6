package main

import (
	"math"
	"time"
)

// A job is what every worker of a scene gets: where to call, how the throttle
// is to be built, and the load. It is JSON, because workers may be processes.
type job struct {
	Vendor string
	Key    string
	Redis  string // "": the throttle keeps its counts in memory
	Prefix string // of the run's keys in Redis

	Amount     int64 // the budget, in requests per Per
	Per        time.Duration
	Patience   time.Duration // how long a live call waits for room
	ProbeEvery time.Duration // 0: the default

	Streams []stream
	For     time.Duration

	// The load is dealt out among Workers; Worker is this one's place.
	Worker, Workers int
}

// A stream is calls of one lane at an even pace, whatever becomes of them.
type stream struct {
	Lane  string
	After time.Duration // when the first call is due
	Every time.Duration // between two calls, all workers together
}

// at is when the n-th call of the worker is due, after the start.
func (s stream) at(j job, n int) time.Duration {
	return s.After + time.Duration(n*j.Workers+j.Worker)*s.Every
}

// pace is the Every of a stream of n calls in d.
func pace(n float64, d time.Duration) time.Duration {
	return time.Duration(math.Ceil(float64(d) / n))
}

// A tally is what became of the calls of one lane.
type tally struct {
	Offered  int
	Answered int
	Denied   int           // by the throttle: not sent
	Refused  int           // by the vendor
	Failed   int           // anything else
	Slowest  time.Duration // of the answered
	Failure  string        // the first
	Outages  int           // how often the workers lost Redis; in one lane's tally only
}

// add takes in another worker's tally.
func (t *tally) add(o tally) {
	t.Offered += o.Offered
	t.Answered += o.Answered
	t.Denied += o.Denied
	t.Refused += o.Refused
	t.Failed += o.Failed
	t.Outages += o.Outages
	t.Slowest = max(t.Slowest, o.Slowest)
	if t.Failure == "" {
		t.Failure = o.Failure
	}
}
