package redistest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestMonitorSeesExactlyWhatRanMeanwhile(t *testing.T) {
	t.Parallel()
	s := Start(t)
	c := s.Client(t)
	c.Get(t.Context(), "before")
	lines := s.Monitor(t, func() {
		for i := range 100 {
			c.Get(t.Context(), "k"+strconv.Itoa(i))
		}
		c.Eval(t.Context(), "return redis.call('GET', KEYS[1])", []string{"scripted"})
	})
	c.Get(t.Context(), "after")

	if len(lines) != 102 {
		t.Fatalf("%d lines, want 100 GETs, one EVAL and the GET inside it:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	for i, line := range lines[:100] {
		if want := `"k` + strconv.Itoa(i) + `"`; !strings.Contains(line, want) {
			t.Errorf("line %d is %s, want %s", i, line, want)
		}
	}
	if last := lines[101]; !strings.Contains(last, "lua]") {
		t.Errorf("the last line is %s, want the script's", last)
	}
}

func TestMonitorOfNothingIsEmpty(t *testing.T) {
	t.Parallel()
	if lines := Start(t).Monitor(t, func() {}); len(lines) != 0 {
		t.Errorf("%d lines: %v", len(lines), lines)
	}
}

func TestKeysWithoutExpiry(t *testing.T) {
	t.Parallel()
	s := Start(t)
	c := s.Client(t)
	c.Set(t.Context(), "passing", 1, time.Hour)
	if got := s.KeysWithoutExpiry(t); len(got) != 0 {
		t.Errorf("%v, want none", got)
	}
	c.Set(t.Context(), "a", 1, 0)
	c.HSet(t.Context(), "b", "f", 1)
	got := s.KeysWithoutExpiry(t)
	slices.Sort(got)
	if want := []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
