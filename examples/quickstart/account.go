package main

import (
	"net/http"
	"sync"
	"time"
)

// An account is one customer as the vendor sees it: a key, a limit, and what
// came in. Its clock is the vendor's own.
type account struct {
	mu      sync.Mutex
	limit   *window // of each model; nil: none
	models  map[string]*window
	revoked bool
	slow    time.Duration // the next request is told to stay away that long
	closed  time.Time     // until when requests are told so
	told    time.Time     // when the first one was
	log     []arrival
}

// An arrival is one request, as it reached the vendor.
type arrival struct {
	at     time.Time
	model  string
	origin origin
	status int
}

// receive decides about a request and writes it down. retryAfter is what a 429
// is to say.
func (a *account) receive(model string, o origin) (status int, retryAfter time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	status, retryAfter = a.judge(now, model)
	a.log = append(a.log, arrival{at: now, model: model, origin: o, status: status})
	return status, retryAfter
}

func (a *account) judge(now time.Time, model string) (status int, retryAfter time.Duration) {
	if a.slow > 0 {
		a.told, a.closed, a.slow = now, now.Add(a.slow), 0
	}
	switch {
	case a.revoked:
		return http.StatusUnauthorized, 0
	case now.Before(a.closed):
		return http.StatusTooManyRequests, a.closed.Sub(now)
	case a.limit != nil && !a.window(model).admit(now):
		return http.StatusTooManyRequests, time.Second
	}
	return http.StatusOK, 0
}

func (a *account) window(model string) *window {
	w := a.models[model]
	if w == nil {
		w = &window{amount: a.limit.amount, per: a.limit.per}
		a.models[model] = w
	}
	return w
}

// slowDown answers the next request, and those that come within d of it, with
// a 429 that says how long to stay away.
func (a *account) slowDown(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.slow = d
}

// setRevoked refuses the key from now on, or accepts it again.
func (a *account) setRevoked(revoked bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.revoked = revoked
}

// toldAt is when the 429 of slowDown was sent; zero: it wasn't.
func (a *account) toldAt() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.told
}

// arrivals returns those that a filter lets through, in order. nil: all.
func (a *account) arrivals(keep func(arrival) bool) []arrival {
	a.mu.Lock()
	defer a.mu.Unlock()
	var kept []arrival
	for _, in := range a.log {
		if keep == nil || keep(in) {
			kept = append(kept, in)
		}
	}
	return kept
}

func withStatus(status int) func(arrival) bool {
	return func(in arrival) bool { return in.status == status }
}

// within keeps what arrived at or after from and before to.
func within(from, to time.Time) func(arrival) bool {
	return func(in arrival) bool { return !in.at.Before(from) && in.at.Before(to) }
}
