package main

import (
	"slices"
	"testing"
	"time"
)

func TestStreamsAreDealtOut(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		by      hands
		workers int
		want    [][]time.Duration // by worker
	}{
		{"to everybody", everybody, 2, [][]time.Duration{{5 * ms, 7 * ms, 9 * ms}, {6 * ms, 8 * ms}}},
		{"to the first", theFirst, 2, [][]time.Duration{{5 * ms, 6 * ms, 7 * ms, 8 * ms, 9 * ms}, nil}},
		{"to the others", theOthers, 3, [][]time.Duration{nil, {5 * ms, 7 * ms, 9 * ms}, {6 * ms, 8 * ms}}},
		{"to the others, who are none", theOthers, 1, [][]time.Duration{{5 * ms, 6 * ms, 7 * ms, 8 * ms, 9 * ms}}},
	} {
		for worker, want := range c.want {
			s := stream{By: c.by, After: 5 * ms, Every: ms, Until: 10 * ms}
			if got := times(s, job{Worker: worker, Workers: c.workers, For: time.Hour}); !slices.Equal(got, want) {
				t.Errorf("%s, worker %d: %v, want %v", c.name, worker, got, want)
			}
		}
	}
	if got := times(stream{Every: 3 * ms}, job{Workers: 1, For: 7 * ms}); len(got) != 3 {
		t.Errorf("until the job's end: %v, want 3 times", got)
	}
}

func times(s stream, j job) (all []time.Duration) {
	for n := 0; ; n++ {
		at, any := s.at(j, n)
		if !any {
			return all
		}
		all = append(all, at)
	}
}
