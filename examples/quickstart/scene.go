package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A scene is one thing that headgate promises, put to the test.
type scene struct {
	name string
	play func(context.Context, *stage) (*table, error)
}

var allScenes = []scene{
	{"budget", playBudget},
	{"lanes", playLanes},
	{"pause", playPause},
	{"key", playKey},
	{"trips", playTrips},
}

func names() string {
	var all []string
	for _, s := range allScenes {
		all = append(all, s.name)
	}
	return strings.Join(all, ", ")
}

// choose returns the scene of that name, or all of them for "".
func choose(name string) ([]scene, error) {
	if name == "" {
		return allScenes, nil
	}
	for _, s := range allScenes {
		if s.name == name {
			return []scene{s}, nil
		}
	}
	return nil, fmt.Errorf("there is no scene %q; there are %s", name, names())
}

// The vendor's limit in the scenes: small enough to be used up in seconds, and
// wide enough, one request in 50 ms, that a busy machine's jitter is less than
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

// atWindow starts a scene with a window, so that whole windows are counted.
func atWindow() time.Time { return nextWindow(soon(), per) }

// showTrouble adds what went wrong beside the scene, if anything: calls that
// neither headgate nor the vendor decided, and a Redis that didn't answer,
// which explains what a table may say otherwise.
func (t *table) showTrouble(tallies ...tally) {
	for _, y := range tallies {
		if y.Outages > 0 {
			t.show("times that Redis didn't answer in time", y.Outages)
		}
		if y.Failed > 0 {
			t.require("failed: "+y.Failure, y.Failed, "none", false)
		}
	}
}
