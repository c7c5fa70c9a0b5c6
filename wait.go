package headgate

import (
	"context"
	"net/http"
)

// waitContext returns the context that a wait for room ends with: the
// request's, or one that Request.Cancel ends too. Nothing that outlives the
// wait may depend on it; release frees what it holds.
func waitContext(req *http.Request) (ctx context.Context, release func()) {
	stop := cancelOf(req)
	if stop == nil {
		return req.Context(), func() {}
	}
	ctx, cancel := context.WithCancel(req.Context())
	go relay(ctx, stop, cancel)
	return ctx, cancel
}

// relay ends ctx when stop is closed, and itself when either is.
func relay(ctx context.Context, stop <-chan struct{}, cancel func()) {
	select {
	case <-stop:
		cancel()
	case <-ctx.Done():
	}
}

// over returns the error of a request that has ended before it was sent. It is
// the context's own, unwrapped, as net/http returns it: http.Client looks for
// its Timeout method without unwrapping.
func over(req *http.Request) error {
	if ctx := req.Context(); ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case <-cancelOf(req): // a nil channel is never ready
		return context.Canceled
	default:
		return nil
	}
}

// cancelOf returns the channel that ends the request, beside its context.
func cancelOf(req *http.Request) <-chan struct{} {
	//lint:ignore SA1019 callers still use it, and the base obeys it
	return req.Cancel
}
