package findings

import (
	"strings"
	"testing"
	"time"
)

func TestATableSaysWhatWasFoundAndWhatHadToBe(t *testing.T) {
	x := &Table{Title: "pause: an example"}
	x.Show("calls before", 50)
	x.Require("… during", 3, "0", false)
	x.Require("used", Share(178, 180), "at least 95 %", true)
	x.Require("used, finely", FinePercent(99.974), "at least 99 %", true)
	x.Note("and no figure")
	x.Show("late by", 1234567*time.Nanosecond)
	x.Show("finely", Fine(1234567))
	x.Show("a factor", 1.0062)
	var out strings.Builder
	x.Print(&out)
	const want = `
pause: an example
                  figure  rule
  calls before        50
  … during             3  0              BROKEN
  used            98.9 %  at least 95 %  ok
  used, finely   99.97 %  at least 99 %  ok
  and no figure
  late by            1ms
  finely           1.2ms
  a factor         1.006
`
	if out.String() != want {
		t.Errorf("printed:%s\nwant:%s", out.String(), want)
	}
	if got := x.Breaches(); len(got) != 1 || got[0] != "… during: 3, want 0" {
		t.Errorf("breaches %q", got)
	}
	if x.Rules() != 3 || x.Broken() != 1 {
		t.Errorf("%d of %d rules broken, want 1 of 3", x.Broken(), x.Rules())
	}
}
