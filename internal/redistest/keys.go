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
	if _, moved := redis.IsMovedError(err); moved {
		left, err = pttlAsking(c, key)
	}
	if err != nil {
		tb.Fatalf("redistest: expiry of %q: %v", key, err)
	}
	return left == noExpiry
}

// pttlAsking reads the expiry of a key that a cluster node has without being
// its owner yet, because its slot is on the way there.
func pttlAsking(c *redis.Client, key string) (time.Duration, error) {
	ctx, p := context.Background(), c.Pipeline()
	p.Do(ctx, "ASKING")
	left := p.PTTL(ctx, key)
	_, err := p.Exec(ctx)
	return left.Val(), err
}
