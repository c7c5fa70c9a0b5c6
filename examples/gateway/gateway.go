package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/headgate-go/headgate"
	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/lanes"
	"github.com/headgate-go/headgate/throttle"
)

const (
	laneHeader   = "X-Headgate-Lane"
	tenantHeader = "X-Headgate-Tenant"
)

// newGateway returns a proxy that sends what th admits to the vendor at base.
func newGateway(th *throttle.Throttle, d dialect.Dialect, base *url.URL) http.Handler {
	wire := http.DefaultTransport.(*http.Transport).Clone()
	wire.DisableCompression = true // the caller says what it can unpack
	proxy := &httputil.ReverseProxy{
		Transport:     headgate.NewTransport(th, d, headgate.WithBase(wire)),
		FlushInterval: -1, // at once
		ErrorHandler:  refuse,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(base)
			p.Out.Header.Del(laneHeader)
			p.Out.Header.Del(tenantHeader)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if name := r.Header.Get(laneHeader); name != "" {
			i := slices.IndexFunc(lanes.Default(), func(l lanes.Lane) bool { return l.Name == name })
			if i < 0 {
				answer(w, http.StatusBadRequest, fmt.Sprintf("gateway: there is no lane %q", name))
				return
			}
			ctx = lanes.With(ctx, lanes.Default()[i])
		}
		if id := r.Header.Get(tenantHeader); id != "" {
			ctx = throttle.WithTenant(ctx, id)
		}
		proxy.ServeHTTP(w, r.WithContext(ctx))
	})
}

// refuse answers a call that has no answer of the vendor's. A denial's text holds
// no credential; other errors are for the log, since they tell of the network.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	var d *throttle.DeniedError
	if !errors.As(err, &d) {
		if r.Context().Err() == nil { // else the caller has left
			slog.Warn("gateway: no answer", "error", err)
		}
		answer(w, http.StatusBadGateway, "gateway: no answer from the vendor")
		return
	}
	if d.RetryAfter > 0 {
		seconds := (d.RetryAfter-1)/time.Second + 1 // rounded up: nobody comes too early
		w.Header().Set("Retry-After", strconv.FormatInt(int64(seconds), 10))
	}
	status := http.StatusTooManyRequests
	switch {
	case errors.Is(d, throttle.ErrTooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(d, throttle.ErrStore), errors.Is(d, throttle.ErrClosed):
		status = http.StatusServiceUnavailable
	}
	answer(w, status, d.Error())
}

// kinds are the words that most vendors' SDKs know.
var kinds = map[int]string{
	http.StatusBadRequest:            "invalid_request_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	http.StatusBadGateway:            "api_error",
	http.StatusServiceUnavailable:    "api_error",
}

func answer(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{
		"type": "error", "error": map[string]string{"type": kinds[status], "message": message},
	})
}
