package redistest

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// KeysWithoutExpiry returns the keys that the server would keep for ever.
func (s *Server) KeysWithoutExpiry(tb testing.TB) []string {
	tb.Helper()
	ctx, c := context.Background(), s.Client(tb)
	var forever []string
	for it := c.Scan(ctx, 0, "", 1000).Iterator(); ; {
		if !it.Next(ctx) {
			if err := it.Err(); err != nil {
				tb.Fatalf("redistest: scan: %v", err)
			}
			return forever
		}
		if keeps(tb, c, it.Val()) {
			forever = append(forever, it.Val())
		}
	}
}

// noExpiry is what go-redis makes of the server's answer -1.
const noExpiry = time.Duration(-1)

func keeps(tb testing.TB, c *redis.Client, key string) bool {
	tb.Helper()
	left, err := c.PTTL(context.Background(), key).Result()
	if err != nil {
		tb.Fatalf("redistest: expiry of %q: %v", key, err)
	}
	return left == noExpiry
}
