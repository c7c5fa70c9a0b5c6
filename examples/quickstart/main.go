// Command quickstart shows headgate at work, with nothing but Go: it starts a
// small AI vendor on the loopback interface, sends it more than it allows
// through a throttle, and prints what the vendor saw.
//
//	go run ./examples/quickstart
//	go run ./examples/quickstart -redis 127.0.0.1:6379 -processes 4
//	go run ./examples/quickstart -page :8080
//
// With -redis the callers are operating-system processes that share their
// budget in that Redis, which should run on this machine: the vendor goes by
// this machine's clock and headgate by Redis's. Three scenes show more then: who
// goes first where callers wait in several processes, what becomes of the fleet
// when one of them is killed, and how seldom Redis is asked, with leases and
// without.
//
// With -page it serves the status page of each scene's throttle while it runs.
//
// A scene measures in real time. Each is given what a busy machine may delay;
// one that stands still for longer breaks rules without headgate's fault.
//
// It exits with 1 if a rule doesn't hold, and with 2 if it can't run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/google/uuid"
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
	broken, err := run(ctx, os.Args[1:])
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(2)
	case broken > 0:
		os.Exit(1)
	}
}

// A stage is what all scenes of a run share.
type stage struct {
	vendor    *vendor
	redis     string // "": the counts are kept in memory
	prefix    string
	processes int
	page      string // where status pages are served; "": nowhere
	pages     *pages // nil: none are
}

func run(ctx context.Context, args []string) (broken int, err error) {
	s, acts, err := parse(args)
	if err != nil {
		return 0, err
	}
	if s.vendor, err = startVendor(); err != nil {
		return 0, err
	}
	defer s.vendor.Close()
	defer s.tidy()

	fmt.Println(s)
	if s.page != "" {
		if s.pages, err = servePages(s.page); err != nil {
			return 0, err
		}
		defer s.pages.close()
		fmt.Println("The status pages, while the scenes run:", s.pages.url)
	}
	began, rules := time.Now(), 0
	for _, act := range acts {
		tables, err := act.play(ctx, s)
		if ctx.Err() != nil {
			return 0, errors.New("interrupted")
		}
		if err != nil {
			return 0, err
		}
		for _, t := range tables {
			t.Print(os.Stdout)
			rules += t.Rules()
			broken += t.Broken()
		}
	}
	fmt.Printf("\n%d of %d rules kept, in %v\n", rules-broken, rules, time.Since(began).Round(100*time.Millisecond))
	return broken, nil
}

func parse(args []string) (*stage, []act, error) {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	redis := flags.String("redis", "", "share the budget in the Redis at this `address`, host:port")
	processes := flags.Int("processes", 0, "how many processes call; needs -redis (default 2 with it)")
	page := flags.String("page", "", "serve the status pages at this `address`, such as :8080, while the scenes run")
	only := flags.String("scene", "", "play one scene: "+names())
	if err := flags.Parse(args); err != nil {
		return nil, nil, err
	}
	s := &stage{redis: *redis, processes: *processes, page: *page, prefix: "headgate-quickstart-" + uuid.NewString()[:8]}
	switch {
	case flags.NArg() > 0:
		return nil, nil, fmt.Errorf("don't know what to do with %q", flags.Arg(0))
	case s.processes < 0:
		return nil, nil, fmt.Errorf("-processes is %d", s.processes)
	case s.redis == "" && s.processes > 1:
		return nil, nil, errors.New("-processes needs -redis: processes share nothing without it")
	case s.processes == 0 && s.redis != "":
		s.processes = 2
	case s.processes == 0:
		s.processes = 1
	}
	acts, err := choose(*only)
	return s, acts, err
}

func (s *stage) String() string {
	if s.redis == "" {
		return "One process; the budget is kept in its memory. (-redis ADDR -processes N: a fleet)"
	}
	return fmt.Sprintf("%d processes share the budget in Redis at %s.", s.processes, s.redis)
}
