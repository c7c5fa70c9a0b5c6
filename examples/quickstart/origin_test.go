package main

import (
	"net/http"
	"testing"
	"time"
)

func TestOriginReachesTheVendor(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	want := origin{lane: background, worker: 3, since: epoch.Add(time.Nanosecond)}
	want.tell(h)
	if got := originOf(h); got.lane != want.lane || got.worker != want.worker || !got.since.Equal(want.since) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
