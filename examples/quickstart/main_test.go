package main

import (
	"os"
	"slices"
	"testing"
)

// The test binary is its own worker process, as the program is.
func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		serve(os.Stdin, os.Stdout)
		return
	}
	os.Exit(m.Run())
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args      []string
		processes int // 0: refused
		scenes    int
	}{
		{nil, 1, 8},
		{[]string{"-redis", "127.0.0.1:1"}, 2, 8},
		{[]string{"-redis", "127.0.0.1:1", "-processes", "7"}, 7, 8},
		{[]string{"-scene", "key"}, 1, 1},
		{[]string{"-processes", "2"}, 0, 0},
		{[]string{"-processes", "-1"}, 0, 0},
		{[]string{"-scene", "nonesuch"}, 0, 0},
		{[]string{"surplus"}, 0, 0},
	} {
		s, acts, err := parse(c.args)
		scenes := slices.Concat(acts...)
		if c.processes == 0 {
			if err == nil {
				t.Errorf("%v: accepted", c.args)
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.args, err)
		} else if s.processes != c.processes || len(scenes) != c.scenes {
			t.Errorf("%v: %d processes and %d scenes, want %d and %d", c.args, s.processes, len(scenes), c.processes, c.scenes)
		}
	}
}
