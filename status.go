package headgate

import (
	"net/http"

	"github.com/headgate-go/headgate/throttle"
)

// A StatusOption changes what StatusHandler shows. There is none yet.
type StatusOption func(*statusOptions)

type statusOptions struct{}

// StatusHandler returns a page that shows a throttle's budgets, pauses and
// keys. This version doesn't have it yet: the handler answers every request
// with status 501 and says so.
func StatusHandler(*throttle.Throttle, ...StatusOption) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "headgate: StatusHandler is "+throttle.ErrNotBuilt.Error(), http.StatusNotImplemented)
	})
}
