package main

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The quick mode, of parts that between them use Redis, leases and none.
func TestAQuickRunMeasuresAndDraws(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.svg")
	var out, errs bytes.Buffer
	err := run([]string{"-rounds", "1", "-time", "30ms", "-only", "^(refused|leased)$", "-svg", file}, &out, &errs)
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	for _, want := range []string{"refused, 1", "leased, 512", "x/time/rate", "mutex and clock", "known pause: round trips", "leased from a near Redis"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "none") {
		t.Errorf("something wasn't measured:\n%s", out.String())
	}
	drawn, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(drawn, new(struct{ XMLName xml.Name })); err != nil {
		t.Errorf("the chart: %v", err)
	}
}

// What is known to be hopeless is refused here, and an empty budget is not
// taken for one with room.
func TestRefusalsAreRefusalsAndTripsAreCounted(t *testing.T) {
	b := &bench{log: os.Stderr}
	b.settings, _ = parse([]string{"-rounds", "1", "-time", "30ms"}, os.Stderr)
	err := b.measure(part{"test", func(b *bench) {
		th := b.throttle(b.inRedis(limited("m"), "test"))
		o := b.hold(contest{name: "two", workers: 2, of: []contestant{{alone, calling(th, "m")}, mutexAndClock()}})
		if n := o.scripts(alone); n <= 0.1 || n > 3 {
			t.Errorf("two callers make %v round trips a call, want about one or half of one", n)
		}
		if n := o.scripts("mutex and clock"); n > 0.01 {
			t.Errorf("a mutex makes %v round trips", n)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.measure(part{"fails", func(b *bench) {
		b.hold(contest{name: "bad", workers: 1, of: []contestant{{"refuses", func(int) error { return errRefused }}}})
	}}); err == nil || !strings.Contains(err.Error(), "bad: refuses: ") {
		t.Errorf("a contestant that fails makes the part fail with %v", err)
	}
}
