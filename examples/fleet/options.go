package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Options are what the command line says.
type options struct {
	redis string
	chart string
	all   bool
}

func parse(args []string) (o options, stages []stage, err error) {
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	flags.BoolVar(&o.all, "all", false, "check every goal, in less than ten minutes; the other flags but -redis and -chart say nothing then")
	vendor := flags.String("vendor", string(twoCounter), "how the vendor counts: "+join(algorithms))
	rate := flags.Int("rate", 600, "requests a `minute` that the vendor allows")
	flt := flags.String("fault", string(faultNone), "what goes wrong: "+join(faults))
	tokens := flags.Int("tokens", 0, fmt.Sprintf("tokens a `minute` that the vendor allows; a call takes %d to %d (0: enough)", promptTokens+leastAnswer, maxTokens))
	processes := flags.Int("processes", 8, "how many worker processes call")
	load := flags.Float64("load", 3, "live calls, in `times` what the vendor allows")
	callers := flags.Int("callers", 0, "instead of calls at an even pace: so many callers in each process, one call after the other")
	window := flags.Duration("window", 10*time.Second, "in which the vendor counts: rate*window/minute calls each")
	flags.StringVar(&o.redis, "redis", "", "share the budget in the Redis at this `address`, host:port; faults that harm Redis start their own")
	flags.StringVar(&o.chart, "chart", "", "draw the run into this `file`, SVG; with -all one for each run, named after it")
	if err := flags.Parse(args); err != nil {
		return o, nil, err
	}
	p := faultPlan(fault(*flt), algorithm(*vendor), *rate, *window, *load)
	p.Tokens = *tokens
	switch {
	case flags.NArg() > 0:
		return o, nil, fmt.Errorf("don't know what to do with %q", flags.Arg(0))
	case o.all:
		return o, everything(), nil
	case !slices.Contains(algorithms, algorithm(*vendor)):
		return o, nil, fmt.Errorf("-vendor is %q, want %s", *vendor, join(algorithms))
	case !slices.Contains(faults, fault(*flt)):
		return o, nil, fmt.Errorf("-fault is %q, want %s", *flt, join(faults))
	case *window < time.Second || *window > time.Hour:
		return o, nil, fmt.Errorf("-window is %v, want 1s to 1h", *window)
	case *load <= 0 || *load > 100:
		return o, nil, fmt.Errorf("-load is %v, want more than 0, at most 100", *load)
	case *rate < 1 || p.amount() < 1:
		return o, nil, fmt.Errorf("-rate is %d: less than one request in a window", *rate)
	case *tokens != 0 && p.tokens() < 2*maxTokens:
		return o, nil, fmt.Errorf("-tokens is %d: less than two calls in a window", *tokens)
	case *processes < 1 || *callers < 0:
		return o, nil, errors.New("-processes and -callers can't be less than 1 and 0")
	}
	if p.Fault != faultLeaseKill {
		p.Processes = *processes
	}
	if *callers > 0 {
		p.Streams, p.Callers = nil, *callers
	}
	return o, []stage{{p}}, nil
}

func join[T ~string](names []T) string {
	s := make([]string, len(names))
	for i, n := range names {
		s[i] = string(n)
	}
	return strings.Join(s, ", ")
}

// draw writes the history's chart, if one is wanted.
func (o options) draw(h *history) error {
	if o.chart == "" {
		return nil
	}
	name := o.chart
	if o.all {
		name = strings.TrimSuffix(name, ".svg") + "-" + h.Name + ".svg"
	}
	return os.WriteFile(name, []byte(chart(h)), 0o644)
}
