package main

import (
	"net/http"
	"strconv"
	"time"
)

// An origin is where a request comes from. It is told to the vendor, who
// writes it down and decides nothing by it.
type origin struct {
	lane    string
	process int
	call    int       // of that process
	sent    time.Time // when the throttle let it go
}

const (
	laneHeader    = "X-Lane"
	processHeader = "X-Process"
	callHeader    = "X-Call"
	sentHeader    = "X-Sent" // nanoseconds
)

func (o origin) tell(h http.Header) {
	h.Set(laneHeader, o.lane)
	h.Set(processHeader, strconv.Itoa(o.process))
	h.Set(callHeader, strconv.Itoa(o.call))
	h.Set(sentHeader, strconv.FormatInt(o.sent.UnixNano(), 10))
}

// originOf reads what tell wrote. A request from elsewhere was sent now.
func originOf(h http.Header, now time.Time) origin {
	process, _ := strconv.Atoi(h.Get(processHeader))
	call, _ := strconv.Atoi(h.Get(callHeader))
	sent, err := strconv.ParseInt(h.Get(sentHeader), 10, 64)
	if err != nil {
		sent = now.UnixNano()
	}
	return origin{lane: h.Get(laneHeader), process: process, call: call, sent: time.Unix(0, sent)}
}
