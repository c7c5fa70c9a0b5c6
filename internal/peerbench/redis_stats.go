package main

import (
	"context"
	"strconv"
	"strings"
)

// scriptStats are how many scripts the server has run, and for how long.
type scriptStats struct{ calls, micros int64 }

// scriptStats reads them from the server's own figures: a script that a client
// runs is one round trip.
func (b *bench) scriptStats() scriptStats {
	text, err := b.stats.Info(context.Background(), "commandstats").Result()
	b.must(err)
	return parseScriptStats(text)
}

func parseScriptStats(info string) (s scriptStats) {
	for line := range strings.Lines(info) {
		name, fields, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || name != "cmdstat_evalsha" && name != "cmdstat_eval" {
			continue
		}
		for field := range strings.SplitSeq(fields, ",") {
			what, figure, _ := strings.Cut(field, "=")
			n, _ := strconv.ParseInt(figure, 10, 64)
			switch what {
			case "calls":
				s.calls += n
			case "usec":
				s.micros += n
			}
		}
	}
	return s
}

// serverFigure reads a figure of the server's own: of INFO's section, the one
// of that name.
func (b *bench) serverFigure(section, name string) float64 {
	text, err := b.stats.Info(context.Background(), section).Result()
	b.must(err)
	for line := range strings.Lines(text) {
		if figure, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			n, err := strconv.ParseFloat(figure, 64)
			b.must(err)
			return n
		}
	}
	b.Fatalf("redis-server doesn't tell its %s", name)
	return 0
}

// usedMemory is how many bytes the server has taken.
func (b *bench) usedMemory() float64 { return b.serverFigure("memory", "used_memory") }
