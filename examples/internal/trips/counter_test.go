package trips

import (
	"context"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestAPipelineIsOneTrip(t *testing.T) {
	var c Counter
	failed := errors.New("refused")
	ctx := context.Background()
	ping := redis.NewStatusCmd(ctx, "ping")
	if err := c.ProcessHook(func(_ context.Context, cmd redis.Cmder) error {
		if cmd != ping {
			t.Error("another command is sent")
		}
		return failed
	})(ctx, ping); !errors.Is(err, failed) || c.Load() != 1 {
		t.Errorf("a command: %v, %d trips", err, c.Load())
	}
	if err := c.ProcessPipelineHook(func(_ context.Context, cmds []redis.Cmder) error {
		if len(cmds) != 2 {
			t.Errorf("%d commands of 2 are sent", len(cmds))
		}
		return nil
	})(ctx, []redis.Cmder{ping, ping}); err != nil || c.Load() != 2 {
		t.Errorf("a pipeline of two: %v, %d trips in all", err, c.Load())
	}
}
