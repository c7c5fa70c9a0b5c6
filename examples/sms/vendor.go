package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"time"
)

const accountSID = "AC00000000000000000000000000000001"

// How long the vendor works on a message. The second third of them is slow: as
// many as come in that time at the pace alone would be too many at once.
const (
	quick = 100 * time.Millisecond
	slow  = 800 * time.Millisecond
)

func takes(nth int) time.Duration {
	if nth > messages/3 && nth <= messages*2/3 {
		return slow
	}
	return quick
}

// A vendor answers as Twilio's message resource does, and notes when requests
// came and how many there were at once.
type vendor struct {
	*httptest.Server

	mu      sync.Mutex
	arrived []time.Time
	running int
	most    int
}

func startVendor() *vendor {
	v := &vendor{}
	v.Server = httptest.NewServer(http.HandlerFunc(v.create))
	return v
}

func (v *vendor) create(w http.ResponseWriter, r *http.Request) {
	nth := v.note(time.Now())
	select {
	case <-time.After(takes(nth)):
	case <-r.Context().Done():
	}
	v.mu.Lock()
	v.running--
	v.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	io.WriteString(w, `{"sid":"SM1","status":"queued","account_sid":"`+accountSID+`"}`)
}

// note returns which message it is, from 1.
func (v *vendor) note(now time.Time) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.arrived = append(v.arrived, now)
	v.running++
	v.most = max(v.most, v.running)
	return len(v.arrived)
}

func (v *vendor) report() report {
	v.mu.Lock()
	defer v.mu.Unlock()
	return newReport(v.arrived, v.most)
}

// base sends to this vendor what is for Twilio's, whose address the SDK
// doesn't let one change.
func (v *vendor) base() http.RoundTripper {
	to, _ := url.Parse(v.URL) // of a server that is up
	return detour{to: to, next: &http.Transport{MaxIdleConnsPerHost: senders}}
}

type detour struct {
	to   *url.URL
	next *http.Transport
}

func (d detour) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host = d.to.Scheme, d.to.Host
	return d.next.RoundTrip(out)
}

func (d detour) CloseIdleConnections() { d.next.CloseIdleConnections() }
