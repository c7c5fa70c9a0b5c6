package pagetest

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/throttle"
)

const updated = `document.getElementById("told").textContent`

func TestAnOperatorPausesAndResumesWithTheKeyboard(t *testing.T) {
	th := newThrottle(t, nil)
	use(t, th, 1, call, throttle.Verdict{})
	// Below a path of its own, as pprof is.
	mux := http.NewServeMux()
	mux.Handle("/debug/headgate/", headgate.StatusHandler(th, headgate.WithOperator()))
	server := httptest.NewServer(mux)
	defer server.Close()
	p := openTab(t, server.URL+"/debug/headgate/", looks[0])
	p.run(chromedp.Focus(`[data-action=pause][data-scope=model]`), chromedp.KeyEvent("\r"))
	p.until(`document.getElementById("ask").open`)
	p.run(chromedp.Evaluate(`document.getElementById("ask-for").value = "30m"`, nil), chromedp.Focus(`#ask button[value=yes]`), chromedp.KeyEvent("\r"))
	p.until(updated + ` === "Done: paused for 30m0s."`)
	s, err := th.Status(t.Context())
	if err != nil || len(s.Budgets[0].Pauses) != 1 || s.Budgets[0].Pauses[0].Left < 29*time.Minute {
		t.Fatalf("%+v, %v", s, err)
	}
	// The focus outlives the updates.
	p.run(chromedp.Focus(`[data-action=resume]`))
	before := eval[string](p, "document.body.dataset.updated")
	p.until(`document.body.dataset.updated !== "` + before + `"`)
	if !eval[bool](p, `document.activeElement.dataset.action === "resume"`) {
		t.Error("an update took the focus away")
	}
	p.run(chromedp.KeyEvent("\r"))
	p.until(updated + ` === "Done: resumed."`)
	p.until(`document.getElementById("state").textContent === "All open"`)
	if s, err := th.Status(t.Context()); err != nil || len(s.Budgets[0].Pauses) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	p.noWrongs()
}

func TestAnOperatorHasAKeyProbed(t *testing.T) {
	th := refused(t)
	server := httptest.NewServer(headgate.StatusHandler(th, headgate.WithOperator()))
	defer server.Close()
	p := openTab(t, server.URL, looks[2])
	p.run(chromedp.Click(`[data-action=probe]`))
	p.until(updated + ` === "Done: the next probe may begin now."`)
	use(t, th, 1, call, throttle.Verdict{})
	p.until(`document.getElementById("state").textContent === "All open"`)
	p.noWrongs()
}

func TestAPageWithoutOperatorHasNoButtons(t *testing.T) {
	server := httptest.NewServer(headgate.StatusHandler(paused(t)))
	defer server.Close()
	p := openTab(t, server.URL, looks[0])
	if n := eval[int](p, `document.querySelectorAll("main button").length`); n != 0 {
		t.Errorf("%d buttons", n)
	}
	p.noWrongs()
}

func TestAPageWhoseProcessHasGoneSaysSo(t *testing.T) {
	server := httptest.NewServer(headgate.StatusHandler(paused(t)))
	p := openTab(t, server.URL, looks[0])
	server.Close()
	p.until(`document.getElementById("state").textContent.includes("doesn't answer")`)
	if !eval[bool](p, `document.body.textContent.includes("this budget for another")`) {
		t.Error("what was known is gone from the page")
	}
}
