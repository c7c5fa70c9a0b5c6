package headgate_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/throttle"
)

// A trace hears of the wait, the answer and the denial of its own requests, and
// an outer trace before an inner one.
func TestTraceHearsDecisionsAndAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []headgate.Decision
		var verdicts []throttle.Class
		var order []string
		ctx := headgate.WithTrace(as(t.Context()), headgate.Trace{
			Decided: func(d headgate.Decision) { told = append(told, d); order = append(order, "outer") },
		})
		ctx = headgate.WithTrace(ctx, headgate.Trace{
			Decided: func(headgate.Decision) { order = append(order, "inner") },
			Judged:  func(v throttle.Verdict) { verdicts = append(verdicts, v.Class) },
		})
		status := 200
		tr := through(newThrottle(t, waiting, func(c *throttle.Config) {
			c.Budgets[0].Limits = []throttle.Limit{throttle.Requests(1, time.Minute).Using(throttle.FixedWindow)}
		}), func(*http.Request) (*http.Response, error) { return reply(status, http.NoBody), nil })
		time.Sleep(time.Minute - time.Duration(time.Now().UnixNano())%time.Minute) // the window's start
		send := func(ctx context.Context) error {
			resp, err := tr.RoundTrip(post(t, "http://vendor.test").WithContext(ctx))
			if err == nil {
				resp.Body.Close()
			}
			return err
		}
		if err := send(ctx); err != nil {
			t.Fatal(err)
		}
		status = 500
		if err := send(ctx); err != nil {
			t.Fatal(err)
		}
		short, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		denied := send(short)
		if !errors.Is(denied, throttle.ErrBudget) {
			t.Fatalf("got %v, want a denial", denied)
		}
		if len(told) != 3 || told[0].Wait != 0 || told[0].Err != nil || told[0].Model != model ||
			told[1].Wait < 50*time.Second || told[1].Err != nil || !errors.Is(told[2].Err, throttle.ErrBudget) {
			t.Errorf("told %+v", told)
		}
		if want := []throttle.Class{throttle.OK, throttle.ServerError}; !slices.Equal(verdicts, want) {
			t.Errorf("judged %v, want %v", verdicts, want)
		}
		if want := []string{"outer", "inner", "outer", "inner", "outer", "inner"}; !slices.Equal(order, want) {
			t.Errorf("told in the order %v", order)
		}
		if err := send(headgate.WithCall(short, throttle.Call{Model: "other"})); err != nil {
			t.Error(err)
		}
		if len(told) != 4 || told[3].Model != "other" {
			t.Errorf("told %+v", told[3:])
		}
	})
}
