package trips

import (
	"context"
	"testing"

	"github.com/headgate-go/headgate/internal/redistest"
)

func TestAPipelineIsOneTrip(t *testing.T) {
	c := redistest.Start(t).Client(t)
	ctx := context.Background()
	var n Counter
	c.AddHook(&n)
	if err := c.Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	n.Store(0) // what it took to connect
	if err := c.Ping(ctx).Err(); err != nil {
		t.Fatal(err)
	}
	pipe := c.Pipeline()
	pipe.Ping(ctx)
	pipe.Ping(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		t.Fatal(err)
	}
	if got := n.Load(); got != 2 {
		t.Errorf("%d round trips, want 2", got)
	}
}
