package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// A scene is one thing that headgate promises, put to the test.
type scene struct {
	name string
	play func(context.Context, *stage) (*table, error)
}

// An act is scenes that are played at the same time. Each has a customer of its
// own at the vendor, so that they share nothing but the machine, which is mostly
// idle in those that are played together.
type act []scene

var allActs = []act{
	{{"budget", playBudget}, {"lanes", playLanes}},
	{{"pause", playPause}, {"key", playKey}, {"order", playOrder}, {"kill", playKill}},
	{{"leases", playLeases}},
	{{"trips", playTrips}},
}

func names() string {
	var all []string
	for _, s := range slices.Concat(allActs...) {
		all = append(all, s.name)
	}
	return strings.Join(all, ", ")
}

// choose returns the scene of that name, or all of them for "".
func choose(name string) ([]act, error) {
	if name == "" {
		return allActs, nil
	}
	for _, s := range slices.Concat(allActs...) {
		if s.name == name {
			return []act{{s}}, nil
		}
	}
	return nil, fmt.Errorf("there is no scene %q; there are %s", name, names())
}

// play returns the scenes' tables, in their order.
func (a act) play(ctx context.Context, s *stage) ([]*table, error) {
	tables := make([]*table, len(a))
	together, ctx := errgroup.WithContext(ctx)
	for i, scene := range a {
		together.Go(func() (err error) {
			if tables[i], err = scene.play(ctx, s); err != nil {
				err = fmt.Errorf("scene %s: %w", scene.name, err)
			}
			return err
		})
	}
	return tables, together.Wait()
}

// The vendor's limit in the scenes: small enough to be used up in seconds, and
// wide enough, one request in 33 ms, that a busy machine's jitter is less than
// that.
const (
	quota = 60
	per   = 2 * time.Second
)

const (
	live       = "live"
	background = "background"
)

// news is how long a process may take to hear what another one was told.
const news = 100 * time.Millisecond

// soon leaves everybody the time to hear of the start.
func soon() time.Time { return time.Now().Add(50 * time.Millisecond) }

// needsFleet says so in a table of a scene that shows nothing without one.
func (s *stage) needsFleet(t *table) bool {
	if s.processes > 1 {
		return false
	}
	t.Note("it takes a fleet: -redis ADDR -processes N shows more")
	return true
}

// atMost returns the stage for a scene that is made for so many processes: of
// more each would get too little of what is shared.
func (s *stage) atMost(processes int) *stage {
	smaller := *s
	smaller.processes = min(s.processes, processes)
	return &smaller
}

// atWindow starts a scene with a window, so that whole windows are counted.
func atWindow() time.Time { return nextWindow(soon(), per) }

// showTrouble adds what went wrong beside the scene, if anything: calls that
// neither headgate nor the vendor decided, and a Redis that didn't answer,
// which explains what a table may say otherwise.
func (t *table) showTrouble(tallies ...tally) {
	for _, y := range tallies {
		if y.Outages > 0 {
			t.Show("times that Redis didn't answer in time", y.Outages)
		}
		if y.Failed > 0 {
			t.Require("failed: "+y.Failure, y.Failed, "none", false)
		}
	}
}
