package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/redis/go-redis/v9/logging"
)

func main() {
	logging.Disable() // of the Redis client, which tells errors twice
	if os.Getenv(workerEnv) != "" {
		serve(os.Stdin, os.Stdout)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	broken, err := start(ctx, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(2)
	case broken > 0:
		os.Exit(1)
	}
}

// start carries out what the arguments ask for, and returns how many rules
// broke.
func start(ctx context.Context, args []string) (broken int, err error) {
	o, stages, err := parse(args)
	if err != nil {
		return 0, err
	}
	began, rules := time.Now(), 0
	err = carryOut(ctx, o.redis, stages, func(h *history) error {
		t := judge(h)
		t.Print(os.Stdout)
		rules += t.Rules()
		broken += t.Broken()
		return o.draw(h)
	})
	if ctx.Err() != nil {
		return 0, errors.New("interrupted")
	}
	if err != nil {
		return 0, err
	}
	fmt.Printf("\n%d of %d rules kept, in %v\n", rules-broken, rules, time.Since(began).Round(100*time.Millisecond))
	return broken, nil
}
