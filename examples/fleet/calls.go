package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/throttle"
)

// A call is what became of one call, in times after the run's start.
type call struct {
	Lane     string
	Process  int
	Number   int
	Arrived  time.Duration // when the caller called
	Decided  time.Duration // when the throttle let it go or denied it
	Ended    time.Duration
	Deadline time.Duration // of the caller
	Outcome  outcome
	Failure  string // of an outcome that is lost
}

type callKey struct{}

// An outcome is what a caller gets.
type outcome string

const (
	answered outcome = "answered" // by the vendor with 200
	refused  outcome = "refused"  // by the vendor
	denied   outcome = "denied"   // by the throttle, with its typed error
	quit     outcome = "quit"     // the run was over before it ended
	lost     outcome = "lost"     // anything else
)

// What a caller gives a call. A live one may wait for five seconds, the lane's
// default, and the vendor takes a while.
var patience = map[string]time.Duration{live: 8 * time.Second, background: 2 * time.Second}

// A book is what a worker writes down.
type book struct {
	mu      sync.Mutex
	calls   []call
	outages []span
}

// A span is a stretch of time, after the run's start. To 0: it hasn't ended.
type span struct{ From, To time.Duration }

func (b *book) enter(c call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, c)
}

func (b *book) outage(at time.Duration, begins bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if begins {
		b.outages = append(b.outages, span{From: at})
	} else if n := len(b.outages); n > 0 {
		b.outages[n-1].To = at
	}
}

// run makes the job's calls until its end.
func (w *worker) run(ctx context.Context) {
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		count = w.First
	)
	number := func() int {
		mu.Lock()
		defer mu.Unlock()
		count++
		return count
	}
	for _, s := range w.Plan.Streams {
		all.Go(func() { w.stream(ctx, s, number) })
	}
	for range w.Plan.Callers {
		all.Go(func() { w.caller(ctx, number) })
	}
	all.Wait()
	sleepUntil(ctx, w.Start.Add(w.Plan.For))
}

// stream makes calls at their time, without waiting for those before to end.
func (w *worker) stream(ctx context.Context, s stream, number func() int) {
	var all sync.WaitGroup
	defer all.Wait()
	for n := 0; ; n++ {
		due, any := s.at(w.Plan, w.Process, n)
		if !any {
			return
		}
		if at := w.Start.Add(due); time.Since(at) > time.Second {
			continue // it was the turn of the process that was here before
		} else if !sleepUntil(ctx, at) {
			return
		}
		all.Go(func() { w.call(ctx, s.Lane, number()) })
	}
}

// caller makes one call after the other, and rests a little where it is denied.
func (w *worker) caller(ctx context.Context, number func() int) {
	if !sleepUntil(ctx, w.Start) {
		return
	}
	for time.Since(w.Start) < w.Plan.For {
		if w.call(ctx, live, number()) != answered && !sleepUntil(ctx, time.Now().Add(100*time.Millisecond)) {
			return
		}
	}
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

// call is one call to the vendor. The lane travels in the context; that and
// the client are all that a caller sees of headgate.
func (w *worker) call(ctx context.Context, lane string, number int) outcome {
	c := call{Lane: lane, Process: w.Process, Number: number, Arrived: time.Since(w.Start)}
	c.Deadline = c.Arrived + patience[lane]
	run := ctx
	ctx, cancel := context.WithDeadline(laneOf(ctx, lane), w.Start.Add(c.Deadline))
	defer cancel()
	status, err := w.ask(context.WithValue(ctx, callKey{}, &c), number)
	c.Ended = time.Since(w.Start)
	switch {
	case errors.Is(err, throttle.ErrDenied):
		c.Outcome, c.Decided = denied, c.Ended
	case err != nil && run.Err() != nil:
		c.Outcome = quit
	case err != nil:
		c.Outcome, c.Failure = lost, err.Error()
	case status != http.StatusOK:
		c.Outcome = refused
	default:
		c.Outcome = answered
	}
	w.book.enter(c)
	return c.Outcome
}

func (w *worker) ask(ctx context.Context, number int) (status int, err error) {
	answer := leastAnswer + number*7%(mostAnswer-leastAnswer+1)
	ctx = headgate.WithCall(ctx, throttle.Call{Cost: throttle.Cost{InputTokens: promptTokens, OutputTokens: int64(answer)}})
	body := strings.NewReader(fmt.Sprintf(`{"model":%q,"max_tokens":%d,"messages":[{"role":"user","content":"Is it open?"}]}`, model, answer))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.Vendor+"/v1/chat/completions", body)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+w.Key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := w.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}
