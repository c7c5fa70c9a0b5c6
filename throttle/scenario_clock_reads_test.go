package throttle_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wallClock are the ways to make a number of an instant, or an instant of a
// number: such instants follow a clock that somebody may set by 90 seconds,
// where the difference of two that time.Now has returned doesn't.
var wallClock = []string{
	"Unix", "UnixMilli", "UnixMicro", "UnixNano", "Round", "Truncate", "Date", "Clock", "UTC", "Local",
	"Parse", "MarshalBinary", "AppendFormat", "Format",
}

// wallClockReads are the places that may, and why.
var wallClockReads = map[string]string{
	"errors.go: Round":       "of a duration, for people to read",
	"memory.go: UnixMicro":   "once, when the store is made; what follows is a difference",
	"redis_listen.go: Round": "the later of two clocks counts",
	"chunk.go: UnixNano":     "the later of two clocks counts",
}

// No decision depends on a clock that somebody may set: between instants of a
// process only the monotonic clock counts, and between processes the store's.
func TestNoDecisionReadsTheWallClock(t *testing.T) { // B118
	read := map[string]bool{}
	files := 0
	for _, dir := range []string{".", "../leasing", "../lanes", "../probe"} {
		sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			if strings.HasSuffix(source, "_test.go") {
				continue
			}
			files++
			for _, name := range clockReads(t, source) {
				place := filepath.Base(source) + ": " + name
				read[place] = true
				if wallClockReads[place] == "" {
					t.Errorf("%s reads the wall clock by %s", source, name)
				}
			}
		}
	}
	if files < 50 {
		t.Errorf("only %d sources were looked at", files)
	}
	for place := range wallClockReads {
		if !read[place] {
			t.Errorf("%s: is not there any more", place)
		}
	}
}

// clockReads are the methods and functions of the wall clock that a file calls.
func clockReads(t *testing.T, source string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), source, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains(wallClock, f.Sel.Name) {
				if of, ok := f.X.(*ast.Ident); !ok || of.Name != "math" {
					names = append(names, f.Sel.Name)
				}
			}
		}
		return true
	})
	return names
}

// The script has no time but the server's.
func TestTheScriptAsksTheServerForTheTimeAndNobodyElse(t *testing.T) { // B118
	sources, err := filepath.Glob("lua/*.lua")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	asks := 0
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		asks += strings.Count(string(text), "redis.call('TIME')")
		if strings.Contains(string(text), "os.time") || strings.Contains(string(text), "os.clock") {
			t.Errorf("%s reads a clock of its own", source)
		}
	}
	if asks != 1 {
		t.Errorf("the time is asked for %d times, want once for the whole decision", asks)
	}
}
