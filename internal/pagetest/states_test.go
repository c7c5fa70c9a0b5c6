package pagetest

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

const hostile = `<script>document.title='owned'</script><img src=x onerror="document.title='owned'">`

// A scene is a throttle in a state, and what its page must say then.
type scene struct {
	name  string
	build func(*testing.T) *throttle.Throttle
	says  []string // each one of what stands between |
	state string   // the class of the line at the top
}

var call = throttle.Call{Key: "3f9c2a61d0b84e57", Model: "gpt-4o-mini", Cost: throttle.Cost{InputTokens: 400, OutputTokens: 300}}

func newThrottle(t *testing.T, change func(*throttle.Config)) *throttle.Throttle {
	t.Helper()
	c := throttle.Config{
		Budgets: []throttle.Budget{{Name: "chat", Models: []string{"gpt-4o*"}, Limits: []throttle.Limit{
			throttle.Requests(60, time.Hour), throttle.Tokens(50_000, time.Hour),
		}}},
		Lanes:  []lanes.Lane{{Name: "live", Share: 1, Wait: 2 * time.Hour}, lanes.Background},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(&c)
	}
	th, err := throttle.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { th.Close() })
	return th
}

func use(t *testing.T, th *throttle.Throttle, n int, c throttle.Call, v throttle.Verdict) {
	t.Helper()
	for range n {
		p, err := th.Acquire(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		p.Answered(v)
		p.Done()
	}
}

func idle(t *testing.T) *throttle.Throttle { return newThrottle(t, nil) }

// busy has used all that calls in the background may have, and more of requests
// than there is: two live calls wait.
func busy(t *testing.T) *throttle.Throttle {
	th := newThrottle(t, func(c *throttle.Config) { c.Budgets[0].Tenants = throttle.TenantPolicy{Share: 0.9} })
	for i, tenant := range []string{"acme", "globex", hostile} {
		c := call
		c.Tenant = tenant
		use(t, th, 25-5*i, c, throttle.Verdict{})
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	for range 2 {
		go func() { _, _ = th.Acquire(ctx, call) }()
	}
	return th
}

func paused(t *testing.T) *throttle.Throttle {
	th := newThrottle(t, nil)
	use(t, th, 3, call, throttle.Verdict{})
	use(t, th, 1, call, throttle.Verdict{Class: throttle.Busy, Scope: throttle.ScopeModel, Wait: 4 * time.Minute, Detail: "rate_limit_exceeded " + hostile})
	return th
}

func refused(t *testing.T) *throttle.Throttle {
	th := newThrottle(t, nil)
	use(t, th, 2, call, throttle.Verdict{})
	use(t, th, 1, call, throttle.Verdict{Class: throttle.KeyRefused, Scope: throttle.ScopeKey, Detail: "invalid_api_key"})
	return th
}

func outage(t *testing.T) *throttle.Throttle {
	server := redistest.Start(t)
	store, err := throttle.NewRedisStore(server.Client(t), throttle.RedisOptions{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	th := newThrottle(t, func(c *throttle.Config) { c.Store = store })
	use(t, th, 5, call, throttle.Verdict{})
	if s, err := th.Status(t.Context()); err != nil || s.Asked.IsZero() {
		t.Fatalf("%+v, %v", s, err)
	}
	server.Stop(t)
	use(t, th, 1, call, throttle.Verdict{})
	return th
}

func dryRun(t *testing.T) *throttle.Throttle {
	th := newThrottle(t, func(c *throttle.Config) {
		c.DryRun = true
		c.Lanes = []lanes.Lane{{Name: "live", Share: 1}, lanes.Background}
	})
	use(t, th, 75, call, throttle.Verdict{})
	return th
}

var scenes = []scene{
	{"idle", idle, []string{"All open", "No call was made yet.", "No key was used yet.", "Nothing has changed yet.", "memory, healthy"}, "good"},
	{"busy", busy, []string{"All open", "chat", "60 of 60 used", "0 of 60 left", "0 of 36 left", "live 2", "acme", "globex", hostile, "2 waiting here"}, "good"},
	{"paused", paused, []string{"1 budget paused", "this budget for another 3 min|this budget for another 4 min", "busy, rate_limit_exceeded " + hostile, "56 of 60 left"}, "warn"},
	{"refused", refused, []string{"1 key refused", "3f9c2a61d0b84e57", "key refused, invalid_api_key", "in 4 min|in 5 min"}, "bad"},
	{"outage", outage, []string{"store out of reach", "The store is out of reach since", "outage start", "redis, out of reach", "(this one)", "5 of 60 used"}, "bad"},
	{"dryrun", dryRun, []string{"dry run", "Would have been denied", "budget 15", "Would have waited", "none", "60 of 60 used"}, "good"},
}

func TestThePageInEveryStateAndLook(t *testing.T) {
	redis.SetLogger(quiet{})
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			server := httptest.NewServer(headgate.StatusHandler(s.build(t), headgate.WithOperator()))
			defer server.Close()
			for _, l := range looks {
				t.Run(l.name, func(t *testing.T) { s.check(t, server.URL, l) })
			}
		})
	}
}

func (s scene) check(t *testing.T, url string, l look) {
	p := openTab(t, url, l)
	p.until(`document.getElementById("state").className === "` + s.state + `"`)
	text := strings.Join(strings.Fields(eval[string](p, "document.body.textContent")), " ")
	for _, want := range s.says {
		if !slices.ContainsFunc(strings.Split(want, "|"), func(s string) bool { return strings.Contains(text, s) }) {
			t.Errorf("the page lacks %q:\n%s", want, eval[string](p, "document.body.innerText"))
		}
	}
	if title := eval[string](p, "document.title"); title != "headgate" || eval[int](p, "document.images.length") != 0 || eval[int](p, "document.scripts.length") != 1 {
		t.Errorf("a name became markup; the title is %q", title)
	}
	if over := eval[int](p, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
		t.Errorf("the page is %d pixels too wide", over)
	}
	if wide := eval[string](p, `[...document.querySelectorAll("main *")].filter((e) => e.getClientRects().length && getComputedStyle(e).position !== "absolute" && e.closest("thead") === null && e.getBoundingClientRect().right > (e.parentElement.closest(".card, .scroll, .alarm") || document.body).getBoundingClientRect().right + 0.5).map((e) => e.outerHTML.slice(0, 80)).join("\n")`); wide != "" {
		t.Errorf("beyond the edge: %s", wide)
	}
	if ground := eval[string](p, "getComputedStyle(document.body).backgroundColor"); (ground == "rgb(18, 21, 26)") != l.dark {
		t.Errorf("the ground is %s", ground)
	}
	if n := eval[int](p, `document.querySelectorAll("thead th:not([scope=col]), tbody tr > :first-child:not(th[scope=row]), table:not(:has(caption)), [role=meter]:not([aria-label])").length`); n > 0 {
		t.Errorf("%d tables, headers or meters that a screen reader can't name", n)
	}
	before := eval[string](p, "document.body.dataset.updated")
	p.until(`document.body.dataset.updated !== "` + before + `"`)
	p.shoot(s.name + "-" + l.name)
	p.noWrongs()
}

// quiet takes the lines of the Redis client about a server that was stopped.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}
