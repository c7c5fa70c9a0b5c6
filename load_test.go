package headgate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

// B114: every way for a call to end gives back what it should, in any mix.
func TestB114MixedEndsLeaveNothingCharged(t *testing.T) {
	const calls = 1000
	noLeaks(t)
	th := newThrottle(t)
	var wg sync.WaitGroup
	slots := make(chan struct{}, 50)
	for i := range calls {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			oneOfAMix(t, th, i%10)
		})
	}
	wg.Wait()
	// Of ten calls, one is cancelled before and one finds no connection (0);
	// two time out, one panics and one is closed early (500 each); one is a bad
	// request (0 tokens); three end well (100 each).
	wantUsed(t, th, calls*8/10, calls/10*(4*500+3*usageTokens))
}

func oneOfAMix(t *testing.T, th *throttle.Throttle, kind int) {
	ctx, cancel := context.WithCancel(as(context.Background()))
	defer cancel()
	tr := through(th, func(r *http.Request) (*http.Response, error) {
		switch kind {
		case 0, 1:
			cancel()
			return nil, r.Context().Err()
		case 2:
			panic("base")
		case 3:
			return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
		case 4:
			return reply(400, io.NopCloser(strings.NewReader("{}"))), nil
		}
		return reply(200, io.NopCloser(strings.NewReader(usageBody))), nil
	})
	if kind == 5 {
		cancel()
	}
	defer func() {
		if r := recover(); (r != nil) != (kind == 2) {
			t.Errorf("kind %d: recovered %v", kind, r)
		}
	}()
	resp, err := tr.RoundTrip(post(t, "http://vendor.test").WithContext(ctx))
	if (err != nil) != (kind < 4 || kind == 5) {
		t.Errorf("kind %d: error %v", kind, err)
	}
	if err != nil {
		return
	}
	if kind != 6 {
		io.Copy(io.Discard, resp.Body)
	}
	resp.Body.Close()
}

// B60: error answers cost neither goroutines nor connections.
func TestB60ErrorAnswersLeakNothing(t *testing.T) {
	noLeaks(t)
	var opened atomic.Int32
	v := unstartedVendor(func(w http.ResponseWriter, r *http.Request) {
		status := 0
		fmt.Sscan(r.Header.Get("X-Want"), &status)
		answer(status, `{"error":{"message":"no"}}`)(w, r)
	})
	v.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	v.Start()
	t.Cleanup(v.Close)
	client := v.wrap(t, newThrottle(t))
	for i := range 400 {
		req := post(t, v.URL)
		req.Header.Set("X-Want", []string{"401", "403", "429", "500"}[i%4])
		own := fmt.Sprint("own", i) // so that no verdict stops the next call
		req = req.WithContext(headgate.WithCall(req.Context(), throttle.Call{Account: own, Key: throttle.FingerprintOf(own)}))
		drain(t, client, req)
	}
	if v.hits.Load() != 400 || opened.Load() != 1 {
		t.Errorf("%d requests over %d connections, want 400 over one", v.hits.Load(), opened.Load())
	}
}

// B64: for the race detector.
func TestB64MixedTrafficWithPausesAndClose(t *testing.T) {
	noLeaks(t)
	th := newThrottle(t, func(c *throttle.Config) {
		c.Budgets[0].PerModel = true
		c.Budgets[0].Models = []string{"*"}
		c.Budgets[0].Limits = []throttle.Limit{throttle.Requests(150, day)}
	})
	var sent atomic.Int32
	tr := headgate.NewTransport(th, dialect.OpenAI, headgate.WithBase(stub(func(r *http.Request) (*http.Response, error) {
		if sent.Add(1)%40 == 0 {
			return busy(r)
		}
		return reply(200, io.NopCloser(strings.NewReader(usageBody))), nil
	})))
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			lane := lanes.Lane{Name: []string{"live", "background"}[i%2]}
			call := throttle.Call{Model: fmt.Sprint("model-", i%5), Lane: lane}
			req := post(t, "http://vendor.test")
			resp, err := tr.RoundTrip(req.WithContext(headgate.WithCall(req.Context(), call)))
			if err != nil && !errors.Is(err, throttle.ErrDenied) {
				t.Error(err)
			}
			if err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		})
		if i == 150 {
			wg.Go(func() { th.Close(); th.Close() })
		}
	}
	wg.Wait()
	if _, err := tr.RoundTrip(post(t, "http://vendor.test")); !errors.Is(err, throttle.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}
