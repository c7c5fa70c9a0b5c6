package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/headgate-go/headgate/throttle"

	"github.com/headgate-go/headgate/examples/internal/findings"
)

// playKey has the vendor refuse the key for a while. Instead of everybody
// trying, one call per interval finds out whether it works again.
func playKey(ctx context.Context, s *stage) (*table, error) {
	const every, revoke, intervals = time.Second, 500 * time.Millisecond, 3
	// In the middle of an interval, so that it is clear which one is the last.
	const repair = revoke + intervals*every + every/2
	customer := s.vendor.open("sk-key", 0, 0)
	got, err := s.perform(ctx, job{
		Key: "sk-key", Limit: throttle.Requests(10*quota, per), Patience: time.Second, ProbeEvery: every, For: repair + every,
		Streams: []stream{{Lane: live, Every: 10 * time.Millisecond}},
	}, soon,
		cue{at: revoke, do: func() { customer.setRevoked(true) }},
		cue{at: repair, do: func() { customer.setRevoked(false) }},
	)
	if err != nil {
		return nil, err
	}
	refused := customer.arrivals(withStatus(http.StatusUnauthorized))
	if len(refused) == 0 {
		return nil, fmt.Errorf("no request came while the key was revoked")
	}
	first, last := refused[0].at, refused[len(refused)-1].at
	probes := perInterval(refused, first, every, intervals)
	accepted := customer.arrivals(func(in arrival) bool { return in.status == http.StatusOK && in.at.After(last) })

	t := &table{findings.Table{Title: fmt.Sprintf("key: revoked, and repaired %v later; a probe every %v", repair-revoke, every)}}
	t.Show(fmt.Sprintf("refused within %v of the first refusal", news), len(refused)-sum(probes))
	t.Require("probes by interval", spaced(probes), "1 each", !slices.ContainsFunc(probes, func(n int) bool { return n != 1 }))
	t.Show("denied by headgate, not sent", got[live].Denied)
	t.Require("answered after the repair", len(accepted), "some", len(accepted) > 0)
	t.showTrouble(got[live])
	return t, nil
}

// perInterval counts the arrivals of each interval since the first, without
// those that were under way before everybody knew of it.
func perInterval(in []arrival, first time.Time, every time.Duration, intervals int) []int {
	counts := make([]int, intervals)
	for _, a := range in {
		since := a.at.Sub(first)
		if n := int(since / every); since >= news && n <= intervals {
			counts[max(n, 1)-1]++
		}
	}
	return counts
}

func sum(counts []int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

func spaced(counts []int) string {
	var s []string
	for _, c := range counts {
		s = append(s, fmt.Sprint(c))
	}
	return strings.Join(s, " ")
}
