package pause_test

import (
	"testing"
	"time"

	"github.com/headgate-go/headgate/pause"
)

func TestRateLimitFieldNamesTheExhaustedPolicy(t *testing.T) {
	list := func(value string) waitTest { return waitTest{name: value, header: header("RateLimit", value)} }
	wants := func(tt waitTest, want time.Duration) waitTest { tt.want = want; return tt }
	runWaits(t, pause.RateLimit, []waitTest{
		wants(list(`"permin";r=0;t=23`), 23*time.Second),
		wants(list(`permin;r=0;t=23`), 23*time.Second),
		wants(list(`"permin"; r=0; t=23`), 23*time.Second),
		wants(list(`"permin";r=20;t=23, "day";r=0;t=4000`), 4000*time.Second),
		wants(list(`"permin";r=0;t=23, "day";r=17;t=4000`), 23*time.Second),
		wants(list(`"permin";r=0;t=23 , "day";r=0;t=4000`), 4000*time.Second),
		wants(list(`"permin";r=0;t=23;pk=:dHJpYWwxMjEzMjM=:`), 23*time.Second),
		wants(list(`"a\"b\\c";r=0;t=23;x;y=?1;z="s";w=-1.5`), 23*time.Second),
		wants(list(`"fixed window", "api";r=0;t=12`), 12*time.Second),
		wants(list(`"permin";r=00;t=7`), 7*time.Second),
		wants(list(`"permin";r=0;t=1772600797`), 30*time.Second),
		wants(list(`"permin";r=0;t=99999999999999999999`), pause.MaxHint),

		list(`"permin";r=20;t=23`), // something left
		list(`"permin";r=0`),       // t is optional
		list(`"permin";t=23`),
		list(`"permin";r=0;t=0`),
		list(`"permin"`),
	})
}

func TestRateLimitReadsTheOlderForms(t *testing.T) {
	runWaits(t, pause.RateLimit, []waitTest{
		{"draft 07", header("RateLimit", "limit=100, remaining=0, reset=30"), 30 * time.Second},
		{"draft 07, another order", header("RateLimit", "reset=30,limit=100;w=60,remaining=0"), 30 * time.Second},
		{"draft 07, something left", header("RateLimit", "limit=100, remaining=50, reset=30"), 0},
		{"draft 07, incomplete", header("RateLimit", "limit=100, reset=30"), 0},
		{"draft 07, negative", header("RateLimit", "limit=100, remaining=0, reset=-30"), 0},
		{"draft 06", header("RateLimit-Limit", "100", "RateLimit-Remaining", "0", "RateLimit-Reset", "30"), 30 * time.Second},
		{"draft 06, something left", header("RateLimit-Remaining", "1", "RateLimit-Reset", "30"), 0},
		{"draft 06, negative sentinel", header("RateLimit-Remaining", "-1", "RateLimit-Reset", "30"), 0},
		{"draft 06, only a reset", header("RateLimit-Reset", "30"), 30 * time.Second},
		{"draft 06 with an epoch", header("RateLimit-Remaining", "0", "RateLimit-Reset", "1772600797"), 30 * time.Second},
		{"two lines are one list", header("RateLimit", `"a";r=0;t=3`, "RateLimit", `"b";r=0;t=5`), 5 * time.Second},
	})
}

func TestMalformedRateLimitFieldsAreIgnoredWhole(t *testing.T) {
	for _, value := range []string{
		"problemPolicy;r=0, t=10", // the draft's own example
		`"a";r=0;t=10, `, `"a";r=0;t=10,,"b";r=0;t=3`, `"a";r=0;t=10 "b"`, `"a;r=0;t=10`, `"a";r=0;T=10`,
		`"a";r=0;t=10, "b";r=x;t=3`, `"a";r="0";t=10`, `"a";r=0;t="10"`, `"a";r=0;t=1.5`, `"a";r=0;t=-1`,
		`"a";r=-1;t=10`, `"a";r=0;t=`, `"a";=0`, `"a";"api";r=0;t=3`, `1;r=0;t=10`, `"a\x";r=0;t=10`,
		`"ä";r=0;t=10`, `"a";r=0;t=10;pk=:abc`, `"a";r=0;t=10;b=?2`, `(a);r=0;t=10`, `;r=0;t=10`, `,`, ` `, `"`, `"\`,
		"limit=100, remaining=0, reset=soon", "limit=, remaining=0, reset=3",
	} {
		if d, ok := pause.RateLimit(header("RateLimit", value), present); ok {
			t.Errorf("%s: %v, want none", value, d)
		}
	}
}
