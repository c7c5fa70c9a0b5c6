package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

func TestWhetherAGoalIsMet(t *testing.T) {
	for _, tt := range []struct {
		g     goal
		met   bool
		share float64
	}{
		{goal{figure: 1.15, bound: 1.15}, true, 1},
		{goal{figure: 2.3, bound: 1.15}, false, 0.5},
		{goal{figure: 0.5, bound: 1}, true, 2},
		{goal{figure: 4, bound: 4, least: true}, true, 1},
		{goal{figure: 3, bound: 4, least: true}, false, 0.75},
		{goal{figure: 8, bound: 4, least: true}, true, 2},
	} {
		if got := tt.g.met(); got != tt.met {
			t.Errorf("%+v: met %v, want %v", tt.g, got, tt.met)
		}
		if got := tt.g.share(); math.Abs(got-tt.share) > 1e-9 {
			t.Errorf("%+v: share %v, want %v", tt.g, got, tt.share)
		}
	}
	for _, least := range []bool{false, true} {
		if (goal{figure: math.NaN(), bound: 1, least: least}).met() {
			t.Error("a goal is met by what isn't a number")
		}
	}
	if n := unmet([]goal{{figure: 2, bound: 1}, {figure: 1, bound: 2}, {figure: math.NaN()}}); n != 2 {
		t.Errorf("%d goals aren't met, want 2", n)
	}
}

func TestFiguresHaveThreeDigitsThatCount(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 0.00012: "1.2e-04", 0.0421: "0.042", 1: "1", 1.1504: "1.15", -2.5: "-2.5", 23.456: "23.5", 12: "12", 512.4: "512", math.NaN(): "none",
	} {
		if got := figure(x); got != want {
			t.Errorf("%v is written %q, want %q", x, got, want)
		}
	}
	for ns, want := range map[float64]string{31.26: "31.3 ns", 1500: "1.50 µs", 2.4e6: "2.40 ms"} {
		if got := span(ns); got != want {
			t.Errorf("%v ns are written %q, want %q", ns, got, want)
		}
	}
}

func TestTheTableSaysWhatIsMetAndWhatIsNot(t *testing.T) {
	var out bytes.Buffer
	report(&out, sample())
	text := out.String()
	for _, want := range []string{"1 of 2 goals are met", "too slow & <large>", "NOT MET", "<= 1.15x", ">= 4x", "300.0 ns", "0.25x"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table has no %q:\n%s", want, text)
		}
	}
}

// sample is a run that has measured a little.
func sample() *bench {
	o := board{
		contest: contest{name: "shared, 64", workers: 64, of: []contestant{{name: alone}, {name: "redis_rate"}}},
		slices: map[string][]slice{
			alone:        {{took: 1200}, {took: 1200}},
			"redis_rate": {{took: 300, allocs: 3}, {took: 300, allocs: 3}},
		},
	}
	b := &bench{settings: settings{rounds: 2, slice: time.Second}, boards: []board{o}}
	b.atMost("shared", "too slow & <large>", 2.3, 1.15, "x", "")
	b.atLeast("shared", "fast enough", 5, 4, "x", "beside")
	return b
}

func TestSettingsThatMeanNothingAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"-time", "0s"}, {"-only", "("}, {"-profile", "("}, {"-nonsense"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
	s, err := parse(nil, io.Discard)
	if err != nil || s.rounds != 7 || s.profile != nil || !s.only.MatchString("quota") {
		t.Errorf("by default %+v, %v", s, err)
	}
}

func TestWorkIsCountedAndItsFailureTold(t *testing.T) {
	n, took, err := work(func(int) error { time.Sleep(time.Millisecond); return nil }, 4, 20*time.Millisecond)
	if err != nil || n < 4 || n > 100 || took < 20*time.Millisecond {
		t.Errorf("%d units in %v, %v", n, took, err)
	}
	fault := errors.New("no")
	if _, _, err := work(func(w int) error {
		if w == 1 {
			return fault
		}
		return nil
	}, 2, time.Minute); !errors.Is(err, fault) {
		t.Errorf("a failing worker is told as %v", err)
	}
}

func TestGoalsOfAPartStandTogether(t *testing.T) {
	goals := []goal{{part: "b", what: "1"}, {part: "a", what: "2"}, {part: "b", what: "3"}, {part: "c", what: "4"}, {part: "a", what: "5"}}
	byPart(goals)
	order := ""
	for _, g := range goals {
		order += g.part + g.what + " "
	}
	if want := "b1 b3 a2 a5 c4 "; order != want {
		t.Errorf("they stand as %s, want %s", order, want)
	}
}
