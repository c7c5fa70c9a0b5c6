package throttle

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
)

// The keys that the script is given, and those that it touches.

var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

func TestKEYSHoldKeysAndNothingElseAndTheScriptTouchesNoOthers(t *testing.T) { // B100, B101
	cluster := redistest.SharedCluster(t)
	store, err := NewRedisStore(cluster.Client(t), RedisOptions{Prefix: "test-" + newProbeID()[:8], Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	th := testThrottle(t, Config{
		Store: store, Lanes: noWait, Budgets: testBudget(Requests(100, time.Minute), Tokens(1000, time.Minute).Using(TokenBucket)), Account: []Limit{Requests(1000, time.Hour)},
	})
	begin := store.keys.prefix + ":{" + string(testCall.Key) + "}:"
	node := cluster.Owner(t, cluster.Slot(t, begin))
	lines := node.Monitor(t, func() {
		p, err := th.Acquire(context.Background(), testCall)
		if err != nil {
			t.Error(err)
		}
		p.Answered(Verdict{Class: Busy, Scope: ScopeModel, Wait: time.Minute})
		p.Answered(Verdict{Class: KeyRefused, Scope: ScopeKey})
		p.Cancel()
		if err := th.Close(); err != nil {
			t.Error(err)
		}
	})
	declared := map[string]bool{}
	for _, line := range slices.Concat(commands(slices.Clone(lines), "evalsha"), commands(slices.Clone(lines), "eval")) {
		words := quoted.FindAllString(line, -1)
		n, _ := strconv.Atoi(strings.Trim(words[2], `"`))
		if !strings.Contains(line, begin) {
			continue // another test's, or the set of live processes
		}
		for _, key := range words[3 : 3+n] {
			if !strings.HasPrefix(key, `"`+begin) {
				t.Errorf("KEYS has %s", key)
			}
			declared[key] = true
		}
		if others := len(words) - 3 - n; n < 2 || others != 2 { // a settlement is about no credential
			t.Errorf("%d keys and %d other arguments, want 2 or 3 and 2: %s", n, others, line)
		}
	}
	if len(declared) != 3 {
		t.Fatalf("the claims declare the keys %v, want three", declared)
	}
	for _, line := range lines {
		for _, word := range quoted.FindAllString(line, -1) {
			if isLua(line) && strings.HasPrefix(word, `"`+begin) && !declared[word] {
				t.Errorf("a script touched %s, which no claim declares", word)
			}
		}
	}
}

// What a script calls it names by KEYS, whatever the server lets pass.
func TestScriptsNameKeysByKEYSOnly(t *testing.T) { // B101
	harmless := regexp.MustCompile(`^redis\.call\('(TIME'\)|MGET', unpack\(KEYS\)\)|(SET|HSET|PEXPIRE|HGETALL|HDEL)', KEYS\[[^\]]*\][,)]|PUBLISH', ARGV\[2\], )`)
	fleet, err := os.ReadFile("redis_fleet.go") // has the script of the live processes
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range map[string]string{"claim": claimSource, "fleet": string(fleet)} {
		calls := regexp.MustCompile(`redis\s*\.\s*p?call[^\n]*`).FindAllString(source, -1)
		if len(calls) < 3 {
			t.Errorf("%s: only %d calls were found", name, len(calls))
		}
		for _, c := range calls {
			if !harmless.MatchString(c) {
				t.Errorf("%s: %s", name, c)
			}
		}
	}
}
