package main

import (
	"math"
	"time"

	"github.com/headgate-go/headgate/leasing"
	"github.com/headgate-go/headgate/throttle"
)

// A job is what every worker of a scene gets: where to call, how the throttle
// is to be built, and the load. It is JSON, because workers may be processes.
type job struct {
	Vendor string
	Key    string
	Redis  string // "": the throttle keeps its counts in memory
	Prefix string // of the run's keys in Redis

	Limit      throttle.Limit // of the model chat
	Second     throttle.Limit // of the model quick; zero: none
	Patience   time.Duration  // how long a live call waits for room
	ProbeEvery time.Duration  // 0: the default
	Chunk      int64          // calls that a worker claims ahead; 0: none; auto: by its demand

	Streams []stream
	For     time.Duration
	// Death is when the first worker is killed; 0: never. A little later, if
	// it doesn't hold then what it is to die with.
	Death time.Duration

	Paged bool // somebody wants to see a status page

	// The load is dealt out among Workers; Worker is this one's place.
	Worker, Workers int
}

// auto is the Chunk of a job that leaves the size of leases to headgate.
const auto = -1

func (j job) lease() leasing.Policy {
	if j.Chunk == auto {
		return leasing.Auto()
	}
	return leasing.Policy{Chunk: j.Chunk}
}

// A stream is calls of one lane at an even pace, whatever becomes of them.
type stream struct {
	Lane  string
	After time.Duration // when the first call is due
	Until time.Duration // no call is due any more; 0: the job's end
	Every time.Duration // between two calls, all workers together
	Model string        // "": chat
	By    hands
}

// hands are the workers among whom a stream is dealt out.
type hands int

const (
	everybody hands = iota
	theFirst        // worker
	theOthers       // without the first; a worker that is alone is everybody
)

// place is the worker's place among those who make the stream's calls; among
// 0: it makes none.
func (s stream) place(j job) (place, among int) {
	switch {
	case s.By == everybody || j.Workers == 1:
		return j.Worker, j.Workers
	case s.By == theFirst && j.Worker == 0:
		return 0, 1
	case s.By == theOthers && j.Worker > 0:
		return j.Worker - 1, j.Workers - 1
	}
	return 0, 0
}

// at is when the n-th call of the worker is due, after the start, and whether
// there is one.
func (s stream) at(j job, n int) (time.Duration, bool) {
	end := s.Until
	if end == 0 {
		end = j.For
	}
	place, among := s.place(j)
	due := s.After + time.Duration(n*among+place)*s.Every
	return due, among > 0 && due < end
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
	Trips    int           // round trips to Redis; in one lane's tally only
}

// add takes in another worker's tally.
func (t *tally) add(o tally) {
	t.Offered += o.Offered
	t.Answered += o.Answered
	t.Denied += o.Denied
	t.Refused += o.Refused
	t.Failed += o.Failed
	t.Outages += o.Outages
	t.Trips += o.Trips
	t.Slowest = max(t.Slowest, o.Slowest)
	if t.Failure == "" {
		t.Failure = o.Failure
	}
}
