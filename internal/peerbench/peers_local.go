package main

import (
	"sync"
	"time"

	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"golang.org/x/time/rate"
)

// allowing is golang.org/x/time/rate with room.
func allowing() contestant {
	l := rate.NewLimiter(1e15, plenty)
	return contestant{"x/time/rate", func(int) error {
		if !l.Allow() {
			return errRefused
		}
		return nil
	}}
}

// refusing is golang.org/x/time/rate without.
func refusing() contestant {
	l := rate.NewLimiter(rate.Every(1000*time.Hour), 1)
	l.Allow()
	return contestant{"x/time/rate", func(int) error {
		if l.Allow() {
			return errAdmitted
		}
		return nil
	}}
}

// failsafe is github.com/failsafe-go/failsafe-go's limiter of bursts.
func failsafe() contestant {
	l := ratelimiter.NewBursty[any](plenty, time.Second)
	return contestant{"failsafe-go", func(int) error {
		if !l.TryAcquirePermit() {
			return errRefused
		}
		return nil
	}}
}

// mutexAndClock is the floor of anything that counts per time in one process.
func mutexAndClock() contestant {
	var mu sync.Mutex
	var last time.Time
	n := 0
	return contestant{"mutex and clock", func(int) error {
		now := time.Now()
		mu.Lock()
		defer mu.Unlock()
		if now.After(last) { // what is written is read, or it might be left out
			last = now
		}
		n++
		return nil
	}}
}
