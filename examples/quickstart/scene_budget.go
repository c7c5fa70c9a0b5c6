package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/headgate-go/headgate/throttle"

	"github.com/headgate-go/headgate/examples/internal/findings"
)

// playBudget offers three times what the vendor allows. It must refuse nothing,
// and must get nearly all that it allows: a throttle that sends nothing would
// never be refused either.
func playBudget(ctx context.Context, s *stage) (*table, error) {
	const windows, leastUse = 3, 95
	customer := s.vendor.open("sk-budget", quota, per)
	var start time.Time
	got, err := s.perform(ctx, job{
		Key: "sk-budget", Limit: throttle.Requests(quota, per), For: windows * per, Patience: per / 4,
		Streams: []stream{{Lane: live, Every: pace(3*quota, per)}},
	}, func() time.Time { start = atWindow(); return start })
	if err != nil {
		return nil, err
	}
	end := start.Add(windows * per)
	counted := customer.arrivals(within(start, end))
	later := customer.arrivals(within(end, end.Add(time.Hour)))
	refused := customer.arrivals(withStatus(http.StatusTooManyRequests))
	used := findings.Share(float64(len(counted)-len(refused)), windows*quota)

	t := &table{findings.Table{Title: fmt.Sprintf("budget: %d requests per %v, under three times the load for %v", quota, per, windows*per)}}
	t.Show("offered by callers", got[live].Offered)
	t.Show("denied by headgate, not sent", got[live].Denied)
	t.Show("waited, and went in the window after that", len(later))
	t.Show("reached the vendor in time", len(counted))
	t.Require("vendor refusals", len(refused), "0", len(refused) == 0)
	t.Require("quota used", used, fmt.Sprintf("at least %d %%", leastUse), used >= leastUse)
	t.showTrouble(got[live])
	return t, nil
}
