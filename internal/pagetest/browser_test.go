package pagetest

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var shots = flag.String("shots", "", "leave pictures of the pages in this `directory`")

// patience is for a machine that does much else.
const patience = 90 * time.Second

// browser is one Chromium for all tests; each opens pages of its own.
var browser context.Context

func TestMain(m *testing.M) {
	flag.Parse()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(patience))
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocator, chromedp.WithErrorf(complain))
	if err := chromedp.Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "pagetest: no Chromium, which internal/tools/prerequisites.sh installs:", err)
		os.Exit(1)
	}
	browser = ctx
	code := m.Run()
	stop()
	stopAllocator()
	os.Exit(code)
}

// complain leaves out what the driver says about events of a browser that is newer
// than it.
func complain(format string, args ...any) {
	if !strings.HasPrefix(format, "unhandled node event") {
		fmt.Fprintf(os.Stderr, "chromedp: "+format+"\n", args...)
	}
}

// A look is how a page is looked at.
type look struct {
	name   string
	width  int64
	height int64
	dark   bool
}

var looks = []look{{"light", 1200, 900, false}, {"dark", 1200, 900, true}, {"phone", 375, 812, false}}

// A tab is a page in the browser, and what went wrong in it.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	wrongs []string
}

func openTab(t *testing.T, url string, l look) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, patience)
	t.Cleanup(stop)
	p := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, p.hear)
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	p.run(
		log.Enable(),
		emulation.SetDeviceMetricsOverride(l.width, l.height, 1, l.width < 500),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(url),
		chromedp.Poll("document.body.dataset.updated", nil, chromedp.WithPollingTimeout(patience)),
	)
	return p
}

// hear notes whatever a console would show in red or yellow.
func (p *tab) hear(ev any) {
	wrong := ""
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		wrong = e.ExceptionDetails.Error()
	case *runtime.EventConsoleAPICalled:
		wrong = fmt.Sprint("console: ", e.Type, e.Args)
	case *log.EventEntryAdded:
		wrong = fmt.Sprint("log: ", e.Entry.Level, " ", e.Entry.Text, " ", e.Entry.URL)
	default:
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrongs = append(p.wrongs, wrong)
}

func (p *tab) run(actions ...chromedp.Action) {
	p.t.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// eval returns what an expression is in the page.
func eval[T any](p *tab, expression string) (v T) {
	p.t.Helper()
	p.run(chromedp.Evaluate(expression, &v))
	return v
}

// until waits for an expression to become true.
func (p *tab) until(expression string) {
	p.t.Helper()
	deadline := time.Now().Add(patience / 3)
	for !eval[bool](p, expression) {
		if time.Now().After(deadline) {
			p.t.Fatalf("%s stays false; the page:\n%s", expression, eval[string](p, "document.body.innerText"))
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-p.ctx.Done():
			p.t.Fatal(p.ctx.Err())
		}
	}
}

// noWrongs requires that nothing went wrong in the page.
func (p *tab) noWrongs() {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.wrongs {
		p.t.Error(w)
	}
}

func (p *tab) shoot(name string) {
	p.t.Helper()
	if *shots == "" {
		return
	}
	var picture []byte
	p.run(chromedp.FullScreenshot(&picture, 100))
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
