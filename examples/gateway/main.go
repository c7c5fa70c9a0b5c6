// Command gateway is a reverse proxy built on headgate, for programs in other
// languages: they change their SDK's base URL, and share the budgets of the
// fleet.
//
//	go run ./examples/gateway -vendor openai -to https://api.openai.com -budgets budgets.json -redis 127.0.0.1:6379
//	curl http://127.0.0.1:8080/v1/chat/completions -H "Authorization: Bearer $KEY" -H "X-Headgate-Lane: background" …
//
// budgets.json is a list. A minute's requests and tokens, 0 for no such limit:
//
//	[{"models": ["gpt-4o*"], "rpm": 600, "tpm": 150000, "tenantShare": 0.25}]
//
// The callers' keys pass through, and calls with one key share one budget. A
// request may name its lane (X-Headgate-Lane: live or background) and its tenant
// (X-Headgate-Tenant); the vendor sees neither header. What the throttle denies
// is answered 429 with Retry-After, 413 if it is too large ever to go, and 503
// where the store is out of reach or the gateway is closing.
//
// It asks nobody who he is: let it listen where only your programs are. A
// request that is signed, with its host, as AWS has it, can't pass through.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/headgate-go/headgate/dialect"
	"github.com/headgate-go/headgate/throttle"
)

// drain is how long answers under way may take once the gateway closes.
const drain = 30 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "gateway:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("gateway", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:8080", "where programs reach the gateway")
	vendor := flags.String("vendor", "openai", "the dialect's name")
	to := flags.String("to", "", "the vendor's base URL")
	file := flags.String("budgets", "", "a JSON file; without it there are only pauses and key state")
	server := flags.String("redis", "", "where gateways share their budgets; without it each has its own")
	if err := flags.Parse(args); err != nil {
		return err
	}
	d, ok := dialect.ByName(*vendor)
	if !ok {
		return fmt.Errorf("-vendor %q: want one of %v", *vendor, dialect.Names())
	}
	base, err := url.Parse(*to)
	if err != nil || base.Host == "" {
		return errors.New("-to: want the vendor's base URL, such as https://api.openai.com")
	}
	config := throttle.Config{}
	if config.Budgets, err = readBudgets(*file); err != nil {
		return fmt.Errorf("-budgets: %w", err)
	}
	if *server != "" {
		rdb := redis.NewClient(&redis.Options{Addr: *server})
		defer rdb.Close()
		store, err := throttle.NewRedisStore(rdb, throttle.RedisOptions{})
		if err != nil {
			return fmt.Errorf("-redis: %w", err)
		}
		defer store.Close()
		config.Store = store
	}
	th, err := throttle.New(config)
	if err != nil {
		return err
	}
	defer th.Close()
	return serve(ctx, &http.Server{Addr: *listen, Handler: newGateway(th, d, base), ReadHeaderTimeout: 10 * time.Second})
}

// serve serves until ctx ends, and then lets answers under way end.
func serve(ctx context.Context, s *http.Server) error {
	failed := make(chan error, 1)
	go func() { failed <- s.ListenAndServe() }()
	slog.Info("gateway", "listen", s.Addr)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	return s.Shutdown(ctx)
}
