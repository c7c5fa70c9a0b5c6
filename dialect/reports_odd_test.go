package dialect_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

func TestDraftsOfTheIETF(t *testing.T) {
	permin, day := requests(minute, 50, 20), requests(daily, 1000, unsaid)
	tests := []reportTest{
		{"11", nil, `
			RateLimit: "permin";r=20;t=23
			RateLimit-Policy: "permin";q=50;w=60, "day";q=1000;w=86400`, []throttle.Report{permin, day}},
		{"11, names without quotes, on lines of their own", nil, `
			RateLimit: permin;r=20
			RateLimit-Policy: permin ; q=50 ; w=60
			RateLimit-Policy: day;q=1000;w=86400;pk=:dHJpYWwxMjEzMjM=:`, []throttle.Report{permin, day}},
		{"11, a name with everything in it", nil, `
			RateLimit: "a,\";b=";r=20
			RateLimit-Policy: "a,\";b=";q=50;w=60`, []throttle.Report{permin}},
		{"11, of bytes and of calls at once", nil, `
			RateLimit: "size";r=1, "calls";r=0
			RateLimit-Policy: "size";q=100;w=60;qu="content-bytes", "calls";q=5;w=60;qu="concurrent-requests"`, nil},
		{"11, of requests", nil, `RateLimit-Policy: "a";q=1000;w=86400;qu="requests"`, []throttle.Report{day}},
		{"11, without its policy", nil, `RateLimit: default;r=0;t=7`, nil},
		{"11, a policy without a window", nil, `RateLimit-Policy: "a";q=50`, nil},
		{"11, absurd windows", nil, `RateLimit-Policy: "a";q=50;w=0, "b";q=50;w=99999999999, "c";q=50;w=-1`, nil},
		{"11, what is left is garbage", nil, `
			RateLimit: "day";r=many
			RateLimit-Policy: "day";q=1000;w=86400`, []throttle.Report{day}},
		{"its own malformed example", nil, `
			RateLimit: problemPolicy;r=0, t=10
			RateLimit-Policy: problemPolicy;q=10;w=60`, nil},
		{"a quote that isn't closed", nil, `RateLimit-Policy: "day;q=1000;w=86400`, nil},
		{"an empty member", nil, `RateLimit-Policy: "day";q=1000;w=86400,`, nil},
		{"a parameter in capitals", nil, `RateLimit-Policy: "day";Q=1000;w=86400`, nil},

		{"07", nil, `
			RateLimit: limit=50, remaining=20, reset=30
			RateLimit-Policy: 10;w=1, 50;w=60`, []throttle.Report{permin}},
		{"07, of an unknown window", nil, `RateLimit: limit=50, remaining=0, reset=30`, []throttle.Report{requests(0, 50, unsaid)}},
		{"07, of one of two windows", nil, `
			RateLimit: limit=50, remaining=0, reset=30
			RateLimit-Policy: 50;w=1, 50;w=60`, []throttle.Report{requests(0, 50, unsaid)}},
		{"07, incomplete", nil, `RateLimit: remaining=0, reset=30`, nil},

		{"06", nil, `
			RateLimit-Limit: 50
			RateLimit-Remaining: 20
			RateLimit-Reset: 30
			RateLimit-Policy: 50;w=60`, []throttle.Report{permin}},
		{"06, policies in the limit", nil, `
			RateLimit-Limit: 50, 10;w=1, 50;w=60;comment="sliding, window"
			RateLimit-Remaining: 20`, []throttle.Report{permin}},
		{"06, of an unknown window", nil, `
			RateLimit-Limit: 50
			RateLimit-Remaining: 0`, []throttle.Report{requests(0, 50, unsaid)}},
		{"06, a limit that isn't one", nil, `
			RateLimit-Limit: 0;w=60
			RateLimit-Remaining: 0`, nil},
		{"with X-", nil, `
			X-RateLimit-Limit: 50;w=60
			X-RateLimit-Remaining: 20`, []throttle.Report{permin}},
		{"the standard before X-", nil, `
			RateLimit-Limit: 50;w=60
			RateLimit-Remaining: 20
			X-RateLimit-Limit: 7
			X-RateLimit-Remaining: 0`, []throttle.Report{permin}},
	}
	for _, d := range []dialect.Dialect{dialect.IETF, dialect.Generic} {
		for i := range tests {
			tests[i].dialect = d
		}
		runReports(t, tests)
	}
}

func TestWhatIsntSureIsntReported(t *testing.T) {
	pair := func(limit, remaining string) string {
		return "x-ratelimit-limit-requests: " + limit + "\nx-ratelimit-remaining-requests: " + remaining
	}
	runReports(t, []reportTest{
		{"limit 0", dialect.OpenAI, pair("0", "0"), nil},
		{"negative", dialect.OpenAI, pair("-1", "0"), nil},
		{"words", dialect.OpenAI, pair("unlimited", "0"), nil},
		{"empty", dialect.OpenAI, pair("", "0"), nil},
		{"a fraction", dialect.OpenAI, pair("60.5", "0"), nil},
		{"an exponent", dialect.OpenAI, pair("6e1", "0"), nil},
		{"two in one", dialect.OpenAI, pair("60, 100", "0"), nil},
		{"left: negative", dialect.OpenAI, pair("60", "-1"), []throttle.Report{requests(minute, 60, unsaid)}},
		{"left: words", dialect.OpenAI, pair("60", "none"), []throttle.Report{requests(minute, 60, unsaid)}},
		{"no limit", dialect.OpenAI, "x-ratelimit-remaining-requests: 7", []throttle.Report{requests(minute, unsaid, 7)}},
		{"more is left than there is", dialect.OpenAI, pair("60", "61"), []throttle.Report{requests(minute, 60, 61)}},
		{"huge", dialect.OpenAI, pair(strings.Repeat("9", 400), "18446744073709551616"),
			[]throttle.Report{requests(minute, 2*throttle.MaxAmount, 2*throttle.MaxAmount)}},
		{"the same twice", dialect.OpenAI, pair("60", "7") + "\n" + pair("60", " 7"), []throttle.Report{requests(minute, 60, 7)}},
		{"two limits", dialect.OpenAI, pair("60", "7") + "\n" + pair("100", "7"), nil},
		{"two figures of what is left", dialect.OpenAI, pair("60", "7") + "\n" + pair("60", "0"), []throttle.Report{requests(minute, 60, unsaid)}},
		{"from a cache", dialect.OpenAI, pair("60", "0") + "\nAge: 12", nil},
		{"from the caller's own cache", dialect.OpenAI, pair("60", "0") + "\nX-From-Cache: 1", nil},
		{"past a cache", dialect.OpenAI, pair("60", "0") + "\nAge: 0", []throttle.Report{requests(minute, 60, 0)}},
	})
}

// B48: no reset is taken for anything but what it is. A full refill makes a
// day's limit of a minute's, and that only where it couldn't be a minute's.
func TestB48ResetsSayNothingOfWhatIsLeft(t *testing.T) {
	for reset, per := range map[string]time.Duration{
		"": minute, "1s": minute, "12ms": minute, "2026-01-01T00:00:30Z": minute, "1767225690": minute, "-1": minute, "soon": minute,
		"6m0s": minute, // 60 times: six minutes for a tenth
		"12m":  daily,
	} {
		runReports(t, []reportTest{{"reset " + reset, dialect.OpenAI, `
			x-ratelimit-limit-requests: 60
			x-ratelimit-remaining-requests: 54
			x-ratelimit-reset-requests: ` + reset, []throttle.Report{requests(per, 60, 54)}}})
	}
	runReports(t, []reportTest{{"instants", dialect.Anthropic, `
		anthropic-ratelimit-input-tokens-reset: 2026-01-01T00:00:30Z
		anthropic-ratelimit-requests-reset: 1767225690`, nil}})
}

func TestOwnReportsComeBesideTheBases(t *testing.T) {
	own := func(reports ...throttle.Report) dialect.Dialect {
		return dialect.New("acme", dialect.OpenAI, dialect.Custom{
			Reports: func(*http.Response) []throttle.Report { return reports },
		})
	}
	header := "x-ratelimit-limit-requests: 60\nx-ratelimit-remaining-requests: 7"
	base := requests(minute, 60, 7)
	runReports(t, []reportTest{
		{"none", dialect.New("acme", dialect.OpenAI, dialect.Custom{}), header, []throttle.Report{base}},
		{"of another unit", own(shows(throttle.UnitPoints, hour, 9, 3)), header, []throttle.Report{base, shows(throttle.UnitPoints, hour, 9, 3)}},
		{"stricter", own(requests(minute, 50, 8)), header, []throttle.Report{requests(minute, 50, 7)}},
		{"rounded", own(thousands(requests(minute, unsaid, 0))), header, []throttle.Report{base}},
		{"of nothing", own(requests(minute, 0, -7), requests(-1, unsaid, 0)), header, []throttle.Report{base}},
		{"of an unknown window", own(requests(0, 60, 0)), "", []throttle.Report{requests(0, 60, unsaid)}},
		{"absurd", own(throttle.Report{Per: hour, Limit: 1 << 62, Remaining: 1 << 62, Coarse: 1 << 62}), "",
			[]throttle.Report{{Per: hour, Limit: 2 * throttle.MaxAmount, Remaining: 2 * throttle.MaxAmount, Coarse: 2 * throttle.MaxAmount}}},
	})
	twice := dialect.New("acme 2", own(requests(hour, 9, 3)), dialect.Custom{
		Reports: func(*http.Response) []throttle.Report { return []throttle.Report{requests(daily, 9, 3)} },
	})
	runReports(t, []reportTest{{"on top of an own one", twice, "", []throttle.Report{requests(hour, 9, 3), requests(daily, 9, 3)}}})
	runReports(t, []reportTest{{"which stays as it was", dialect.OpenAI, "", nil}})
}

func FuzzReports(f *testing.F) {
	f.Add("x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests", "59")
	f.Add("RateLimit", `"permin";r=20;t=23, problem;r=0, t=10`, "RateLimit-Policy", `"fixed window";"permin";q=50;w=60`)
	f.Add("RateLimit-Limit", `100, "\";`, "RateLimit", "limit=100, remaining=50;w, reset=30")
	f.Add("X-Shopify-Shop-Api-Call-Limit", "99999999999999999999/-1", "X-Ratelimit-Resource", "core")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string) {
		resp := answer(200, "", name1, value1, name2, value2, name2, value1)
		for _, name := range dialect.Names() {
			d, _ := dialect.ByName(name)
			all := dialect.Reports(d, resp)
			for i, r := range all {
				switch {
				case r.Limit < 1 && r.Limit != unsaid, r.Remaining < 0 && r.Remaining != unsaid, r.Limit < 0 && r.Remaining < 0,
					r.Limit > 2*throttle.MaxAmount, r.Remaining > 2*throttle.MaxAmount, r.Per < 0, r.Per > throttle.MaxPer,
					r.Per == 0 && r.Remaining != unsaid:
					t.Errorf("%s: %+v", name, r)
				}
				for _, other := range all[:i] {
					if other.Unit == r.Unit && other.Per == r.Per {
						t.Errorf("%s: two for one limit: %+v, %+v", name, other, r)
					}
				}
			}
		}
	})
}
