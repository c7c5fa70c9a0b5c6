package redistest

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// settleTimeout is how long several servers may take to agree. They need two
// seconds or three; the rest is for machines busy with other tests.
const settleTimeout = 30 * time.Second

// poll asks until reached returns nil. After settleTimeout it returns the last
// reason why not.
func poll(what string, reached func() error) error {
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(settleTimeout); ; <-again.C {
		err := reached()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("redistest: %s: not after %v: %w", what, settleTimeout, err)
		}
	}
}

// do sends the server one command over a connection of its own.
func (s *Server) do(args ...any) *redis.Cmd {
	c := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1, DialerRetries: 1})
	defer c.Close()
	return c.Do(context.Background(), args...)
}
