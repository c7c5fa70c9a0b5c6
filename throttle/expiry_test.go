package throttle

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A record lives as long as something in it matters, and little longer.
func TestRecordsExpireOnceNothingInThemMatters(t *testing.T) {
	bucket := Requests(60, time.Minute).Using(TokenBucket)
	busy := Verdict{Class: Busy, Scope: ScopeModel, Wait: 2 * time.Minute}
	for _, tt := range []struct {
		name     string
		limits   []Limit
		calls    int
		verdict  Verdict
		suffix   string
		min, max time.Duration
	}{
		{"a window until the end of the next", []Limit{Requests(10, time.Hour)}, 1, Verdict{}, ":b:m", time.Hour, 2 * time.Hour},
		{"a bucket until it is full", []Limit{bucket}, 30, Verdict{}, ":b:m", 29 * time.Second, 51 * time.Second}, // of the share: 30 at 36 a minute
		{"the longest of several", []Limit{bucket, Tokens(10, 24*time.Hour)}, 1, Verdict{}, ":b:m", 24 * time.Hour, 48 * time.Hour},
		{"a pause until the end of its ramp", nil, 1, busy, ":b:m", 2*time.Minute + 9*time.Second, 2*time.Minute + 10*time.Second},
		{"a key long after its probe", nil, 1, Verdict{Class: KeyRefused}, ":k:k", 7 * 24 * time.Hour, 7*24*time.Hour + 5*time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := redisStore(t)
			th := testThrottle(t, Config{Store: store, Budgets: testBudget(tt.limits...)})
			for i := range tt.calls {
				p, err := th.Acquire(context.Background(), testCall)
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					p.Answered(tt.verdict)
				}
				p.Done()
			}
			name := store.keys.prefix + ":{k}" + tt.suffix
			left, err := store.client.PTTL(context.Background(), name).Result()
			if err != nil {
				t.Fatal(err)
			}
			if left < tt.min || left > tt.max+time.Second {
				t.Errorf("%s lives for %v, want %v to %v and a second", strings.TrimPrefix(name, store.keys.prefix), left, tt.min, tt.max)
			}
		})
	}
}
