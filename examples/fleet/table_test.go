package main

import (
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	t.Parallel()
	x := &table{title: "a run"}
	x.show("a figure", 1234567*time.Nanosecond)
	x.show("a finer one", fine(1234567))
	x.require("kept", percent(99.5), "at least 99 %", true)
	x.require("broken", 3, "0", false)
	if x.rules() != 2 || x.broken() != 1 {
		t.Errorf("%d rules, %d broken, want 2 and 1", x.rules(), x.broken())
	}
	var out strings.Builder
	x.print(&out)
	want := strings.Join([]string{
		"", "a run",
		"                figure  rule",
		"  a figure         1ms",
		"  a finer one    1.2ms",
		"  kept         99.50 %  at least 99 %  ok",
		"  broken             3  0              BROKEN",
		"",
	}, "\n")
	if out.String() != want {
		t.Errorf("it says\n%s\nwant\n%s", out.String(), want)
	}
}
