package main

import (
	"net/http"
	"strconv"
	"time"
)

// An origin is where a request comes from. It is told to the vendor's log, and
// nothing decides by it.
type origin struct {
	lane   string
	worker int
	since  time.Time // when the caller called: before any waiting
}

const (
	laneHeader   = "X-Lane"
	workerHeader = "X-Worker"
	sinceHeader  = "X-Since" // nanoseconds
)

func (o origin) tell(h http.Header) {
	h.Set(laneHeader, o.lane)
	h.Set(workerHeader, strconv.Itoa(o.worker))
	h.Set(sinceHeader, strconv.FormatInt(o.since.UnixNano(), 10))
}

// originOf reads what tell wrote; what it didn't write is zero.
func originOf(h http.Header) origin {
	worker, _ := strconv.Atoi(h.Get(workerHeader))
	since, _ := strconv.ParseInt(h.Get(sinceHeader), 10, 64)
	return origin{lane: h.Get(laneHeader), worker: worker, since: time.Unix(0, since)}
}
