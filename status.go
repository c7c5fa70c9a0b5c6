package headgate

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/headgate-go/headgate/throttle"
)

// A StatusOption changes what StatusHandler shows and allows.
type StatusOption func(*statusOptions)

type statusOptions struct{ operator bool }

// WithOperator lets whoever can open the page pause and resume budgets and
// accounts, and have refused keys probed now. Without it the page only shows.
// The handler asks nobody who he is: mount it behind what does.
func WithOperator() StatusOption { return func(o *statusOptions) { o.operator = true } }

// statusWait bounds how long the page waits for the store. What the process
// itself knows is shown in any case.
const statusWait = 500 * time.Millisecond

// StatusHandler returns a page that shows a throttle's budgets, pauses, keys and
// store, and keeps itself up to date. It is one HTML document that loads nothing
// from elsewhere. With ?format=json, or an Accept header of application/json
// that doesn't name text/html too, the same comes as JSON, its durations in
// milliseconds.
//
// Mount it at any path, and not where strangers can see it: it contains no
// credential, but names of accounts, models and tenants. It answers GET and HEAD
// with status 200, also while the store is out of reach, which it shows then. Any
// other method is answered with 405, but for POST where WithOperator is given.
// Names longer than 256 bytes are cut.
//
// A POST comes from the page itself: a form with action (pause, resume or probe),
// id (of a budget or a refused key, from the JSON), and for pause and resume scope
// (model or key), for pause also for (a duration such as 90s, at most 24h). One
// from another origin is answered with 403, one that is malformed with 400, one
// about what isn't there with 404, and one that the store didn't take with 503.
//
// The handler is safe for concurrent use, and asks the store once a second at
// most, however many look. Where th is nil every request is answered with 500.
func StatusHandler(th *throttle.Throttle, opts ...StatusOption) http.Handler {
	p := &statusPage{th: th}
	for _, o := range opts {
		if o != nil {
			o(&p.opts)
		}
	}
	return p
}

type statusPage struct {
	th     *throttle.Throttle
	opts   statusOptions
	origin http.CrossOriginProtection
}

func (p *statusPage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Vary", "Accept")
	switch {
	case p.th == nil:
		writeError(w, http.StatusInternalServerError, "StatusHandler has no throttle")
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		p.show(w, r)
	case r.Method == http.MethodPost && p.opts.operator:
		p.operate(w, r)
	case p.opts.operator:
		h.Set("Allow", "GET, HEAD, POST")
		writeError(w, http.StatusMethodNotAllowed, "the page answers GET, HEAD and POST")
	default:
		h.Set("Allow", "GET, HEAD")
		writeError(w, http.StatusMethodNotAllowed, "the page is read-only: it answers GET and HEAD")
	}
}

func (p *statusPage) show(w http.ResponseWriter, r *http.Request) {
	if !wantsJSON(r) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(pageHTML)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), statusWait)
	defer cancel()
	s, err := p.th.Status(ctx)
	view := viewOf(s, time.Now())
	view.Operator = p.opts.operator
	if err != nil {
		view.Error = clip(err.Error())
	}
	writeJSON(w, http.StatusOK, view)
}

func wantsJSON(r *http.Request) bool {
	if f := r.URL.Query().Get("format"); f != "" {
		return f == "json"
	}
	accept := strings.ToLower(strings.Join(r.Header.Values("Accept"), ","))
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/html")
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // who asked has gone
}

func writeError(w http.ResponseWriter, code int, text string) {
	writeJSON(w, code, map[string]string{"error": text})
}
