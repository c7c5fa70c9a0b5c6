package throttle_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/headgate-go/headgate/internal/redistest"
	"github.com/headgate-go/headgate/throttle"
	"github.com/redis/go-redis/v9"
)

func TestNoNameBreaksTheHashTagOrMeetsAnother(t *testing.T) { // B98, B99
	fl := clusterFleet(t)
	th := newThrottle(t, throttle.Config{Store: fl.open(t), Lanes: patient(), Outage: throttle.OutageClosed, Budgets: []throttle.Budget{{
		Name: "any}{", Models: []string{"*"}, PerModel: true, Limits: []throttle.Limit{throttle.Requests(1, 24*time.Hour)},
	}}})
	names := []string{"a}b", "{x}", "", "gpt-4o:batch", "模型", "a b\n", strings.Repeat("n", 300) + "1", strings.Repeat("n", 300) + "2", "{}", "a\x00b", "%7d", "}"}
	for _, account := range append(names, "acme") {
		for i, name := range names {
			c := throttle.Call{Key: "k", Account: account, Model: name}
			if p, err := tryNow(t, th, c); err != nil {
				t.Fatalf("account %q, model %d, %q: %v", account, i, name, err)
			} else {
				p.Done()
			}
			if p, err := tryNow(t, th, c); err == nil {
				p.Done()
				t.Errorf("account %q, model %q: a second call went", account, name)
			}
		}
	}
	everyKeyExpires(t, fl)
}

func TestAScriptThatOneMasterForgotFailsNoCall(t *testing.T) { // B95
	cluster := redistest.StartCluster(t)
	fl := fleetOf(func(t testing.TB) redis.UniversalClient { return cluster.Client(t) }, cluster.KeysWithoutExpiry)
	outages := 0
	th := newThrottle(t, throttle.Config{Store: fl.open(t), Outage: throttle.OutageClosed, Observe: func(e throttle.Event) {
		if e.Kind == throttle.EventOutageStart {
			outages++
		}
	}})
	for round, node := range cluster.Nodes() {
		cluster.ScriptFlush(t, node)
		for i := range 50 {
			goes(t, th, context.Background(), throttle.Call{Key: throttle.Fingerprint(fmt.Sprint("key", i)), Model: fmt.Sprint("m", round)}).Done()
		}
	}
	if outages > 0 {
		t.Errorf("%d outages", outages)
	}
}
