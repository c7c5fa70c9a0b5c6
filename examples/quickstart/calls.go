package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// callTimeout is what a call may take, waiting included. It is more than any
// call here takes: lanes bound the waiting.
const callTimeout = 10 * time.Second

// run sends the job's streams from start on, closes the worker, and returns a
// tally by lane.
func (w *worker) run(ctx context.Context, start time.Time) map[string]tally {
	var all sync.WaitGroup
	tallies := make([]tally, len(w.job.Streams))
	w.trips.Store(0) // what it took to connect
	for i, s := range w.job.Streams {
		all.Go(func() { tallies[i] = w.stream(ctx, s, start) })
	}
	all.Wait()
	sleepUntil(ctx, start.Add(w.job.For)) // a service doesn't end with its last call
	w.close()
	byLane := map[string]tally{}
	for i, s := range w.job.Streams {
		tallies[i].Outages, tallies[i].Trips = int(w.outages.Swap(0)), int(w.trips.Swap(0))
		sum := byLane[s.Lane]
		sum.add(tallies[i])
		byLane[s.Lane] = sum
	}
	return byLane
}

// stream makes calls at their time, without waiting for those before to end.
func (w *worker) stream(ctx context.Context, s stream, start time.Time) tally {
	var (
		all sync.WaitGroup
		mu  sync.Mutex
		sum tally
	)
	for n := 0; ; n++ {
		due, any := s.at(w.job, n)
		if !any || !sleepUntil(ctx, start.Add(due)) {
			break
		}
		all.Go(func() {
			one := w.call(ctx, s.Lane, s.Model)
			mu.Lock()
			defer mu.Unlock()
			sum.add(one)
		})
	}
	all.Wait()
	return sum
}

// sleepUntil reports whether the time came before the end of ctx.
func sleepUntil(ctx context.Context, at time.Time) bool {
	select {
	case <-time.After(time.Until(at)):
		return true
	case <-ctx.Done():
		return false
	}
}

// call is one call to the vendor. model "": chat. The lane travels in the context; that and
// the client are all that a caller sees of headgate.
func (w *worker) call(ctx context.Context, lane, model string) tally {
	ctx, cancel := context.WithTimeout(lanes.With(ctx, lanes.Lane{Name: lane}), callTimeout)
	defer cancel()
	began := time.Now()
	status, err := w.ask(ctx, cmp.Or(model, chat), origin{lane: lane, worker: w.job.Worker, since: began})
	switch {
	case errors.Is(err, throttle.ErrDenied):
		return tally{Offered: 1, Denied: 1}
	case err != nil:
		return tally{Offered: 1, Failed: 1, Failure: err.Error()}
	case status != http.StatusOK:
		return tally{Offered: 1, Refused: 1}
	}
	return tally{Offered: 1, Answered: 1, Slowest: time.Since(began)}
}

func (w *worker) ask(ctx context.Context, model string, o origin) (status int, err error) {
	body := strings.NewReader(`{"model":"` + model + `","max_tokens":5,"messages":[{"role":"user","content":"Is it open?"}]}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.job.Vendor+"/v1/chat/completions", body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+w.job.Key)
	req.Header.Set("Content-Type", "application/json")
	o.tell(req.Header)
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}
